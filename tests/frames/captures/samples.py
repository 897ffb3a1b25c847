"""Texts as files with frames look in public: what they are read as, and the frames in them."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple


class Sample(NamedTuple):
    """A text, the format that must be recognised, and its frames: (bits, hexadecimal digits)."""

    name: str
    text: str
    format: str
    frames: list[tuple[int, str]]
    columns: Mapping[str, str] = MappingProxyType({})


A, B, C = "2d5105a3b6ad", "2d5205a3b6c0", "2d5305a3b61b"
ABC = [(48, A), (48, B), (48, C)]


def _spaced(digits: str, by: str = " ") -> str:
    return by.join(digits[i : i + 2] for i in range(0, len(digits), 2))


def _lines(shape: str, by: str = " ") -> str:
    return "".join(shape.format(f, s=_spaced(f, by), i=i) for i, f in enumerate((A, B, C)))


def _bits(digits: str) -> str:
    return f"{int(digits, 16):0{4 * len(digits)}b}"


FLEX = (
    '{{"time" : "2024-03-01 10:00:0{i}", "model" : "name", "count" : 1, "num_rows" : 2, "rows" : '
    '[{{"len" : 48, "data" : "{0}"}}, '
    '{{"len" : 0, "data" : ""}}], "codes" : ["{{48}}{0}", "{{0}}"]}}\n'
)
ANALYZER = """rtl_433 version 23.11 inputs file rtl_tcp RTL-SDR
Registered 1 out of 250 device decoding protocols
Detected OOK package\t2024-03-01 10:00:00
Analyzing pulses...
Total count:   48,  width: 57.36 ms\t\t(14340 S)
Pulse width distribution:
 [ 0] count:   21,  width:  504 us [500;512]\t( 126 S)
Guessing modulation: Pulse Width Modulation with fixed gap
view at https://triq.net/pdv/#AAB00B0401
Use a flex decoder with -X 'n=name,m=OOK_PWM,s=504,l=1004,r=2012,g=0,t=0,y=0'
[pulse_slicer_pwm] Analyzer Device
codes             : {{48}}{0}
bitbuffer:: Number of rows: 1
[00] {{48}} {s} : {b}
"""
KEY_VALUE = """_ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _
time      : 2024-03-01 10:00:0{i}
model     : Sensor-X      count     : 1             num_rows  : 1             rows      :
len       : 48            data      : {0}
codes     : {{48}}{0}
"""
SAVVY = "Time Stamp,ID,Extended,Dir,Bus,LEN,D1,D2,D3,D4,D5,D6,D7,D8\n"
SAMPLES = [
    Sample("plain hex", _lines("{0}\n"), "hex", ABC),
    Sample("upper case, Windows line ends", _lines("{0}\r\n").upper(), "hex", ABC),
    Sample("bytes with blanks", _lines("{s}\n"), "hex", ABC),
    Sample("bytes with colons", _lines("{s}\n", ":"), "hex", ABC),
    Sample("bytes with dashes", _lines("{s}\n", "-"), "hex", ABC),
    Sample("0x before each frame", _lines("0x{0}\n"), "hex", ABC),
    Sample("0x before each byte", _lines("0x{s}\n", " 0x"), "hex", ABC),
    Sample("comments and blank lines", "# my sensor\n\n" + _lines("{0} ; {i} C\n"), "hex", ABC),
    Sample("rtl_433 rows", _lines("{{48}}{0}\n"), "hex", ABC),
    Sample("rtl_433 rows with blanks", _lines("{{48}} {s}\n"), "hex", ABC),
    Sample("rows and a note", _lines("{{48}} {s}   temp {i}.5 C\n"), "hex", ABC),
    Sample("several rows in a line", f"{{48}}{A} {{48}}{B} {{48}}{C}\n", "hex", ABC),
    Sample("rows with slashes", f"{{48}}{A}/{{48}}{B}/{{48}}{C}\n", "hex", ABC),
    Sample(
        "odd length",
        "{41}cfb9f00d648\n{41}cfb9f00d600\n",
        "hex",
        [(41, "cfb9f00d648"), (41, "cfb9f00d600")],
    ),
    Sample(
        "more data than announced", f"{{40}}{A}\n{{40}}{B}\n", "hex", [(40, A[:10]), (40, B[:10])]
    ),
    Sample("mixed lengths", f"{A}\n{B}{B}\n{C}\n", "hex", [(48, A), (96, B + B), (48, C)]),
    Sample("time of day", _lines("10:00:0{i}.125 {s}\n"), "hex", ABC, {"time": "10:00:00.125"}),
    Sample(
        "date and time",
        _lines("2024-03-01 10:00:0{i} {s}\n"),
        "hex",
        ABC,
        {"time": "2024-03-01 10:00:00"},
    ),
    Sample("ISO time", _lines("2024-03-01T10:00:0{i}.5Z, {0}\n"), "hex", ABC),
    Sample("time in brackets", _lines("[10:00:0{i}] {0}\n"), "hex", ABC),
    Sample("seconds", _lines("17{i}.250 {s}\n"), "hex", ABC, {"time": "170.250"}),
    Sample("Unix time", _lines("170928720{i} {0}\n"), "hex", ABC, {"time": "1709287200"}),
    Sample("a word before", _lines("RX: {s}\n"), "hex", ABC),
    Sample("time, word and level", _lines("10:00:0{i} RX -67dBm {0}\n"), "hex", ABC),
    Sample("level behind", _lines("{s} RSSI=-67\n"), "hex", ABC),
    Sample("log of a microcontroller", _lines("I (12{i}) cc1101: {s}\n"), "hex", ABC),
    Sample("bits", "".join(_bits(f) + "\n" for f in (A, B, C)), "bits", ABC),
    Sample(
        "bits in bytes", "".join(f"{_bits(f)[:8]} {_bits(f)[8:]}\n" for f in (A, B, C)), "bits", ABC
    ),
    Sample(
        "bits with their length", "".join(f"{{48}}{_bits(f)}\n" for f in (A, B, C)), "bits", ABC
    ),
    Sample(
        "rtl_433 -A",
        "".join(ANALYZER.format(f, s=_spaced(f), b=_bits(f)) for f in (A, B, C)),
        "rtl_433",
        ABC,
    ),
    Sample(
        "rtl_433 bit buffers",
        "bitbuffer:: Number of rows: 3\n" + _lines("[0{i}] {{48}} {s} : 1010\n") + "[03] {0} : \n",
        "rtl_433",
        ABC,
    ),
    Sample("rtl_433 text", _lines(KEY_VALUE), "rtl_433", ABC, {"model": "Sensor-X"}),
    Sample("codes lines", _lines("codes     : {{48}}{0}\n"), "rtl_433", ABC),
    Sample("rtl_433 flex JSON", _lines(FLEX), "json", ABC, {"model": "name"}),
    Sample(
        "rtl_433 JSON with codes",
        _lines('{{"model":"Sensor-X","id":7,"channel":{i},"codes":"{{48}}{0}"}}\n'),
        "json",
        ABC,
        {"id": "7"},
    ),
    Sample("JSON without codes", _lines('{{"model":"X","raw_msg":"{0}"}}\n'), "json", ABC),
    Sample("a JSON list", "[\n" + _lines('  {{"data": "{0}"}},\n')[:-2] + "\n]\n", "json", ABC),
    Sample(
        "candump -L",
        _lines("(1436509052.24971{i}) can0 1F3#{0}\n"),
        "candump",
        ABC,
        {"id": "0x1F3", "channel": "can0", "time": "1436509052.249710"},
    ),
    Sample("candump", _lines("  can0  1F3   [6]  {s}\n"), "candump", ABC, {"id": "0x1F3"}),
    Sample("candump -a", _lines("  vcan0  1F3   [6]  {s}   '-Q....'\n"), "candump", ABC),
    Sample(
        "candump -t a -x", _lines(" (012.00{i})  can0  RX - -  1F3   [6]  {s}\n"), "candump", ABC
    ),
    Sample("CAN FD", _lines("(1.0) can0 18DAF110##1{0} R\n"), "candump", ABC, {"id": "0x18DAF110"}),
    Sample(
        "SavvyCAN",
        SAVVY
        + "".join(
            f"1660{i},000001F3,false,Rx,0,6,{_spaced(f, ',')},\n" for i, f in enumerate((A, B, C))
        ),
        "csv",
        ABC,
        {"id": "0x000001F3", "bus": "0"},
    ),
    Sample(
        "SavvyCAN with single digits",
        SAVVY + "1660,1F3,false,Rx,0,6,2D,51,5,A3,B6,AD,,\n",
        "csv",
        ABC[:1],
        {"id": "0x1F3"},
    ),
    Sample("a table", "time;model;data\n" + _lines("1{i};X;{0}\n"), "csv", ABC, {"model": "X"}),
    Sample(
        "C arrays",
        "/* captured */\n" + _lines("static const uint8_t f{i}[] = {{0x{s}}};\n", ", 0x"),
        "c",
        ABC,
        {"name": "f0"},
    ),
    Sample("C rows", "uint8_t f[][6] = {\n" + _lines("  {{0x{s}}},\n", ",0x") + "};\n", "c", ABC),
    Sample("C rows alone", _lines("{{ 0x{s} }},\n", ", 0x"), "c", ABC),
    Sample("Python bytes", _lines('frame{i} = b"\\x{s}"\n', "\\x"), "c", ABC, {"name": "frame0"}),
    Sample("Python lists", _lines("[0x{s}]\n", ", 0x"), "c", ABC),
    Sample(
        "BitBench",
        f"https://triq.net/bitbench#c={{48}}{A}&c={{48}}{B}&c={{48}}{C}&f=ID:8h%20hhhh%20CRC:8h",
        "bitbench",
        ABC,
    ),
    Sample(
        "BitBench, quoted",
        f"https://triq.net/bitbench#c=%7B48%7D{A}%0A%7B48%7D{B}",
        "bitbench",
        ABC[:2],
    ),
]

#: Texts that cannot be read: what the message must name.
REFUSED = {
    "not a digit": (f"{A}\n{A[:-1]}x\n{B}\n", ["line 2", "'x' is not", A[:8], "--skip-bad-lines"]),
    "not a digit, after other words": (
        f"12:00:01.5 cc: {_spaced(A)}\n12:00:02.5 cc: 2d 5g 05\n",
        ["line 2: column 20: 'g' is not", "in '12:00:02.5 cc: 2d 5g 05'"],
    ),
    "not a byte, between other words": (
        "cc: 2d:51 -70 dB\n  cc: 2d::51\t-71 dB\n",
        ["line 2: column 10: a separator without digits", "in 'cc: 2d::51"],
    ),
    "not a digit, far on": (
        f"{_spaced(A * 3)}\n{_spaced(A * 3)[:-1]}g\n",
        ["line 2: column 53: 'g' is not", "in …'1 05 a3 b6 ag'"],
    ),
    "not a digit, in JSON": (
        '{"model":"X","codes":"2d51"}\n{"model":"X","codes":"2d5g"}\n',
        ["line 2: '2d5g' is no frame: column 4: 'g'"],
    ),
    "too few digits": (f"{{48}}{A}\n{{48}}{A[:8]}\n", ["line 2", "{48}", "--skip-bad-lines"]),
    "numbered lines": (_lines("{i} {s}\n"), ["'0'", "--skip-fields 1"]),
    "a hex dump": (
        "00000000  2d 51 05 a3 b6 ad 2d 52  05 a3 b6 c0 2d 53 05 a3  |-Q....-R....-S..|\n"
        "00000010  b6 1b 2d 51 05 a3 b6 ad  2d 52 05 a3 b6 c0 2d 53  |..-Q....-R....-S|\n",
        ["hex dump", "--format raw", "--length"],
    ),
    "a hex dump of xxd": (
        "00000000: 2d51 05a3 b6ad  -Q....\n00000006: 2d52 05a3       cafe\n",
        ["hex dump", "(xxd -r)", "--format raw", "--length"],
    ),
    "a hex dump of hexdump -C, with its length": (
        "00000000  2d 51 05 a3 b6 ad 2d 52  05 a3 b6 c0 2d 53 05 a3  |-Q....-R....-S..|\n"
        "00000010  b6 1b                                             |..|\n00000012\n",
        ["hex dump", "(cut -c9-58 FILE | xxd -r -p)", "--format raw"],
    ),
    "an octal dump in bytes": (
        f"0000000 {_spaced(A)} {_spaced(B)} 2d 51 05 a3\n0000020 b6 1b\n0000022\n",
        ["hex dump", "(cut -c8-55 FILE | xxd -r -p)", "--format raw"],
    ),
    "a dump with repeated lines": (
        "0000000 00 00 00 00 00 00 00 00\n*\n0000040 2d 51\n0000042\n",
        ["hex dump", "take the file itself", "--format raw"],
    ),
    "an octal dump in octal words": (
        "0000000 121027 017107 011761 046523\n0000010 007756\n0000012\n",
        ["hex dump", "take the file itself", "--format raw"],
    ),
    "JSON without frames": ('{"model":"X","id":7}\n', ["line 1", "model, id", "-M bits"]),
    "not JSON": ('{"codes":"{8}ff"}\nwhat\n', ["line 2", "'what'", "--skip-bad-lines"]),
    "not candump": ("can0 123#0D55\nhello\n", ["line 2", "'hello'", "--skip-bad-lines"]),
    "not a byte": (SAVVY + "1,1F3,false,Rx,0,2,2D,5g,\n", ["line 2", "'5g'", "--skip-bad-lines"]),
    "a link without codes": ("https://triq.net/bitbench#f=8h\n", ["line 1", "#c="]),
    "prose": ("hello world\n", ["line 1", "in 'hello world'", "--skip-bad-lines"]),
    "nothing": ("# only a comment\n", ["no frames", "--format"]),
}
