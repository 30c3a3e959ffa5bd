"""The XML API of Google Cloud Storage before a server that has the JSON API alone, which fake-gcs-server is.

object_store speaks the XML API, and Hadoop's connector the JSON API at the same place. Conditions, generations and
pages are the server's own: a request here becomes requests of the JSON API. Only the parts of an upload are kept here
until it is complete.
"""

from __future__ import annotations

import json
import re
import uuid
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlencode
from xml.sax.saxutils import escape

from relay import Answered, Asked, Upstream, serving

if TYPE_CHECKING:
    from collections.abc import Iterator

_OK, _ABSENT, _DONE = 200, 404, 204
# how paths of the JSON API begin
_JSON = ("/storage/v1/", "/upload/", "/download/", "/batch/")


class _Xml:
    def __init__(self, endpoint: str) -> None:
        self._upstream = Upstream(endpoint)
        self.uploads: dict[str, dict[int, bytes]] = {}

    def answer(self, asked: Asked) -> Answered:
        """The answer of the XML API; one of the JSON API is the server's."""
        if asked.path.startswith(_JSON):
            return self._upstream.ask(asked)
        bucket, _, name = asked.path.removeprefix("/").partition("/")
        query = asked.query
        if not name:
            return self._list(bucket, query)
        if asked.method == "POST" and "uploads" in query:
            upload = uuid.uuid4().hex
            self.uploads[upload] = {}
            return _xml("InitiateMultipartUploadResult", f"<UploadId>{upload}</UploadId>")
        if "uploadId" in query:
            return self._upload(bucket, name, query, asked)
        if asked.method == "PUT":
            return self._put(bucket, name, asked.body, asked.header("x-goog-if-generation-match"))
        # a download of the JSON API answers as one of the XML API
        door = "/storage" if asked.method == "DELETE" else "/download/storage"
        target = f"{door}/v1/b/{bucket}/o/{quote(name, safe='')}"
        return self._upstream.ask(Asked(asked.method, target, asked.headers, asked.body))

    def _put(self, bucket: str, name: str, body: bytes, generation: str | None) -> Answered:
        query = {"uploadType": "media", "name": name}
        if generation is not None:
            query["ifGenerationMatch"] = generation
        target = f"/upload/storage/v1/b/{bucket}/o?{urlencode(query, quote_via=quote)}"
        headers = [("Content-Type", "application/octet-stream"), ("Content-Length", str(len(body)))]
        answer = self._upstream.ask(Asked("POST", target, [("Host", "x"), *headers], body))
        if answer.status != _OK:
            return Answered(answer.status, [], answer.body)
        made = json.loads(answer.body)
        return Answered(_OK, [("ETag", f'"{made["etag"]}"'), ("x-goog-generation", str(made["generation"]))])

    def _upload(self, bucket: str, name: str, query: dict[str, str], asked: Asked) -> Answered:
        upload = query["uploadId"]
        parts = self.uploads.get(upload)
        if parts is None:
            return Answered(_ABSENT, [], b"<Error><Code>NoSuchUpload</Code></Error>")
        if asked.method == "PUT":
            number = int(query["partNumber"])
            parts[number] = asked.body
            return Answered(_OK, [("ETag", f'"{upload}-{number}"')])
        del self.uploads[upload]
        if asked.method == "DELETE":
            return Answered(_DONE)
        numbers = [int(number) for number in re.findall(b"<PartNumber>(.*?)</PartNumber>", asked.body)]
        answer = self._put(bucket, name, b"".join(parts[number] for number in numbers), None)
        etag = dict(answer.headers).get("ETag", "")
        reported = _xml("CompleteMultipartUploadResult", f"<ETag>{escape(etag)}</ETag>")
        return Answered(answer.status, [*reported.headers, *answer.headers], reported.body)

    def _list(self, bucket: str, query: dict[str, str]) -> Answered:
        after = query.get("start-after", "")
        given = {
            "prefix": query.get("prefix", ""),
            "delimiter": query.get("delimiter", ""),
            "startOffset": after,
            "pageToken": query.get("continuation-token", ""),
            "maxResults": query.get("max-keys", "1000"),
        }
        target = (
            f"/storage/v1/b/{bucket}/o?{urlencode({n: v for n, v in given.items() if v}, quote_via=quote)}"
        )
        answer = self._upstream.ask(Asked("GET", target, [("Host", "x")], b""))
        if answer.status != _OK:
            return answer
        found: dict[str, Any] = json.loads(answer.body)
        objects = "".join(_listed(one) for one in found.get("items", []) if one["name"] != after)
        folders = "".join(
            f"<CommonPrefixes><Prefix>{escape(one)}</Prefix></CommonPrefixes>"
            for one in found.get("prefixes", [])
        )
        token = found.get("nextPageToken")
        more = f"<NextContinuationToken>{escape(token)}</NextContinuationToken>" if token else ""
        return _xml("ListBucketResult", objects + folders + more)


def _listed(one: dict[str, Any]) -> str:
    key, etag = escape(one["name"]), escape(one["etag"])
    rest = f"<Size>{one['size']}</Size><LastModified>{one['updated']}</LastModified><ETag>{etag}</ETag>"
    return f"<Contents><Key>{key}</Key>{rest}</Contents>"


def _xml(name: str, inner: str) -> Answered:
    body = f'<?xml version="1.0" encoding="UTF-8"?><{name}>{inner}</{name}>'.encode()
    return Answered(_OK, [("Content-Type", "application/xml")], body)


@contextmanager
def xml_api(endpoint: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """The endpoint of the XML API before one of the JSON API, and the uploads that are open."""
    api = _Xml(endpoint)
    with serving(api.answer) as own:
        yield own, api.uploads
