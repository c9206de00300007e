"""Reads fenced objects by docs/s3-format.md and nothing else: python3 read_fenced.py BUCKET KEY

BUCKET is a folder with a file for each object, whose name is the key, percent-encoded. Prints the mark as one JSON document.
"""
import base64
import hashlib
import json
import pathlib
import re
import struct
import sys
import urllib.parse
import zlib

MARK = ("lock", "token", "holder", "write", "replaced", "state")


def refuse(why):
    raise SystemExit("refused: " + why)


def parse(text, format):
    if not text.endswith("\n"):
        refuse("the last line has no end")
    lines = text[:-1].split("\n")
    if lines[0] != "fenceline 1 " + format:
        refuse("the first line is " + lines[0])
    mark = {"format": format}
    for name, line in zip(MARK, lines[1:7], strict=True):
        word, _, value = line.partition(" ")
        if word != name:
            refuse(f"{line} stands where {name} should")
        mark[name] = value
    if not re.fullmatch("[1-9][0-9]{0,15}", mark["token"]) or int(mark["token"]) >= 2**53:
        refuse("the token is " + mark["token"])
    mark["token"] = int(mark["token"])
    mark["replaced"] = mark["replaced"].split()
    ids = [mark["holder"], mark["write"], *mark["replaced"]]
    if len(mark["replaced"]) > 8 or not all(re.fullmatch("[0-9a-f]{32}", id) for id in ids):
        refuse("the ids are " + " ".join(ids))
    if mark["state"] not in ("data", "none"):
        refuse("the state is " + mark["state"])
    return mark, lines[7:]


def envelope(raw):
    magic, length = raw[:4], struct.unpack_from("<H", raw, 10)[0]
    if magic != b"\x1f\x8b\x08\x04" or length > 4096:
        refuse("no gzip with an extra field")
    extra, text = raw[12 : 12 + length], None
    while len(extra) >= 4:
        id, size = extra[:2], struct.unpack_from("<H", extra, 2)[0]
        if id == b"FL":
            text = extra[4 : 4 + size].decode()
        extra = extra[4 + size :]
    if text is None:
        refuse("no mark in the extra field")
    mark, more = parse(text, "envelope")
    if more:
        refuse("something follows the mark")
    unpacker = zlib.decompressobj(-15)
    body = unpacker.decompress(raw[12 + length :])
    if unpacker.unused_data != struct.pack("<II", zlib.crc32(body), len(body)):
        refuse("the checksum is not that of the body")
    return mark, {"body": body} if mark["state"] == "data" else {}


def pointer(raw, read):
    mark, lines = parse(raw.decode(), "pointer")
    bodies = {}
    for line in lines:
        word, name, length, digest, key = line.split(" ")
        data = read(urllib.parse.unquote(key))
        if word != "object" or len(data) != int(length) or hashlib.sha256(data).hexdigest() != digest:
            refuse("the data is not that of " + line)
        bodies[urllib.parse.unquote(name)] = data
    if (mark["state"] == "data") != bool(bodies):
        refuse("the state is " + mark["state"])
    return mark, bodies


def main(bucket, key):
    def read(name):
        return (pathlib.Path(bucket) / urllib.parse.quote(name, safe="")).read_bytes()

    raw = read(key)
    mark, bodies = envelope(raw) if raw[:1] == b"\x1f" else pointer(raw, read)
    mark["bodies"] = {name: base64.b64encode(body).decode() for name, body in bodies.items()}
    sys.stdout.buffer.write(json.dumps(mark, ensure_ascii=False).encode())


main(*sys.argv[1:])
