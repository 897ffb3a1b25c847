"""The best known CRCs: facts of published standards; tests verify each by its check value."""

from __future__ import annotations

from typing import NamedTuple


class Known(NamedTuple):
    """A CRC by its parameters, in the usual model.

    Examples
    --------
    >>> len(CATALOGUE) > 60
    True
    >>> CATALOGUE[0]
    Known(name='CRC-3/GSM', width=3, poly=3, init=0, refin=False, refout=False, xorout=7, check=4)
    """

    name: str
    width: int
    poly: int
    init: int
    refin: bool
    refout: bool
    xorout: int
    #: The CRC of the text 123456789.
    check: int


# name, width, polynomial, init, whether input and output are reflected, xorout, check value
_TABLE = """
3/GSM 3 3 0 no no 7 4
3/ROHC 3 3 7 yes yes 0 6
4/G-704 4 3 0 yes yes 0 7
4/INTERLAKEN 4 3 f no no f b
5/EPC-C1G2 5 09 09 no no 00 00
5/G-704 5 15 00 yes yes 00 07
5/USB 5 05 1f yes yes 1f 19
6/CDMA2000-A 6 27 3f no no 00 0d
6/CDMA2000-B 6 07 3f no no 00 3b
6/DARC 6 19 00 yes yes 00 26
6/G-704 6 03 00 yes yes 00 06
6/GSM 6 2f 00 no no 3f 13
7/MMC 7 09 00 no no 00 75
7/ROHC 7 4f 7f yes yes 00 53
7/UMTS 7 45 00 no no 00 61
8/AUTOSAR 8 2f ff no no ff df
8/BLUETOOTH 8 a7 00 yes yes 00 26
8/CDMA2000 8 9b ff no no 00 da
8/DARC 8 39 00 yes yes 00 15
8/DVB-S2 8 d5 00 no no 00 bc
8/GSM-A 8 1d 00 no no 00 37
8/GSM-B 8 49 00 no no ff 94
8/HITAG 8 1d ff no no 00 b4
8/I-432-1 8 07 00 no no 55 a1
8/I-CODE 8 1d fd no no 00 7e
8/LTE 8 9b 00 no no 00 ea
8/MAXIM-DOW 8 31 00 yes yes 00 a1
8/MIFARE-MAD 8 1d c7 no no 00 99
8/NRSC-5 8 31 ff no no 00 f7
8/OPENSAFETY 8 2f 00 no no 00 3e
8/ROHC 8 07 ff yes yes 00 d0
8/SAE-J1850 8 1d ff no no ff 4b
8/SMBUS 8 07 00 no no 00 f4
8/TECH-3250 8 1d ff yes yes 00 97
8/WCDMA 8 9b 00 yes yes 00 25
10/ATM 10 233 000 no no 000 199
10/CDMA2000 10 3d9 3ff no no 000 233
10/GSM 10 175 000 no no 3ff 12a
11/FLEXRAY 11 385 01a no no 000 5a3
11/UMTS 11 307 000 no no 000 061
12/CDMA2000 12 f13 fff no no 000 d4d
12/DECT 12 80f 000 no no 000 f5b
12/GSM 12 d31 000 no no fff b34
12/UMTS 12 80f 000 no yes 000 daf
13/BBC 13 1cf5 0000 no no 0000 04fa
14/DARC 14 0805 0000 yes yes 0000 082d
14/GSM 14 202d 0000 no no 3fff 30ae
15/CAN 15 4599 0000 no no 0000 059e
15/MPT1327 15 6815 0000 no no 0001 2566
16/ARC 16 8005 0000 yes yes 0000 bb3d
16/CDMA2000 16 c867 ffff no no 0000 4c06
16/CMS 16 8005 ffff no no 0000 aee7
16/DDS-110 16 8005 800d no no 0000 9ecf
16/DECT-R 16 0589 0000 no no 0001 007e
16/DECT-X 16 0589 0000 no no 0000 007f
16/DNP 16 3d65 0000 yes yes ffff ea82
16/EN-13757 16 3d65 0000 no no ffff c2b7
16/GENIBUS 16 1021 ffff no no ffff d64e
16/GSM 16 1021 0000 no no ffff ce3c
16/IBM-3740 16 1021 ffff no no 0000 29b1
16/IBM-SDLC 16 1021 ffff yes yes ffff 906e
16/ISO-IEC-14443-3-A 16 1021 c6c6 yes yes 0000 bf05
16/KERMIT 16 1021 0000 yes yes 0000 2189
16/LJ1200 16 6f63 0000 no no 0000 bdf4
16/M17 16 5935 ffff no no 0000 772b
16/MAXIM-DOW 16 8005 0000 yes yes ffff 44c2
16/MCRF4XX 16 1021 ffff yes yes 0000 6f91
16/MODBUS 16 8005 ffff yes yes 0000 4b37
16/NRSC-5 16 080b ffff yes yes 0000 a066
16/OPENSAFETY-A 16 5935 0000 no no 0000 5d38
16/OPENSAFETY-B 16 755b 0000 no no 0000 20fe
16/PROFIBUS 16 1dcf ffff no no ffff a819
16/RIELLO 16 1021 b2aa yes yes 0000 63d0
16/SPI-FUJITSU 16 1021 1d0f no no 0000 e5cc
16/T10-DIF 16 8bb7 0000 no no 0000 d0db
16/TELEDISK 16 a097 0000 no no 0000 0fb3
16/TMS37157 16 1021 89ec yes yes 0000 26b1
16/UMTS 16 8005 0000 no no 0000 fee8
16/USB 16 8005 ffff yes yes ffff b4c8
16/XMODEM 16 1021 0000 no no 0000 31c3
17/CAN-FD 17 1685b 00000 no no 00000 04f03
21/CAN-FD 21 102899 000000 no no 000000 0ed841
24/BLE 24 00065b 555555 yes yes 000000 c25a56
24/FLEXRAY-A 24 5d6dcb fedcba no no 000000 7979bd
24/FLEXRAY-B 24 5d6dcb abcdef no no 000000 1f23b8
24/INTERLAKEN 24 328b63 ffffff no no ffffff b4f3e6
24/LTE-A 24 864cfb 000000 no no 000000 cde703
24/LTE-B 24 800063 000000 no no 000000 23ef52
24/OPENPGP 24 864cfb b704ce no no 000000 21cf02
24/OS-9 24 800063 ffffff no no ffffff 200fa5
30/CDMA 30 2030b9c7 3fffffff no no 3fffffff 04c34abf
31/PHILIPS 31 04c11db7 7fffffff no no 7fffffff 0ce9e46c
32/AIXM 32 814141ab 00000000 no no 00000000 3010bf7f
32/AUTOSAR 32 f4acfb13 ffffffff yes yes ffffffff 1697d06a
32/BASE91-D 32 a833982b ffffffff yes yes ffffffff 87315576
32/BZIP2 32 04c11db7 ffffffff no no ffffffff fc891918
32/CD-ROM-EDC 32 8001801b 00000000 yes yes 00000000 6ec2edc4
32/CKSUM 32 04c11db7 00000000 no no ffffffff 765e7680
32/ISCSI 32 1edc6f41 ffffffff yes yes ffffffff e3069283
32/ISO-HDLC 32 04c11db7 ffffffff yes yes ffffffff cbf43926
32/JAMCRC 32 04c11db7 ffffffff yes yes 00000000 340bc6d9
32/MEF 32 741b8cd7 ffffffff yes yes 00000000 d2c22f51
32/MPEG-2 32 04c11db7 ffffffff no no 00000000 0376e6e7
32/XFER 32 000000af 00000000 no no 00000000 bd0be338
"""


CATALOGUE = tuple(
    Known(
        f"CRC-{name}",
        int(width),
        int(poly, 16),
        int(init, 16),
        refin == "yes",
        refout == "yes",
        int(xorout, 16),
        int(check, 16),
    )
    for name, width, poly, init, refin, refout, xorout, check in map(
        str.split, _TABLE.strip().split("\n")
    )
)

#: What else common CRCs are called, where the name in the catalogue hides it.
ALIASES = {
    "CRC-16/ARC": "CRC-16/IBM",
    "CRC-16/IBM-3740": "CRC-16/CCITT-FALSE",
    "CRC-16/IBM-SDLC": "CRC-16/X-25",
    "CRC-16/KERMIT": "CRC-16/CCITT-TRUE",
    "CRC-16/SPI-FUJITSU": "CRC-16/AUG-CCITT",
    "CRC-16/UMTS": "CRC-16/BUYPASS",
    "CRC-32/ISCSI": "CRC-32C",
    "CRC-32/ISO-HDLC": "CRC-32 of zip and Ethernet",
}
