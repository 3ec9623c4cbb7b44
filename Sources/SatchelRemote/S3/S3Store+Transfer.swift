import SatchelCore

extension S3Store: TransferStore {
  /// The limits of Amazon S3; an object above 64 MiB is written in parts.
  package var transferLimits: TransferLimits { TransferLimits(object: 5 << 40, whole: 64 << 20) }

  /// The caller reads the object back when the condition is not met, as `ReliableWriter` does.
  package func put(
    _ key: ObjectKey, _ body: FileBody, condition: ObjectCondition, metadata: ObjectMetadata, isDurable: Bool,
    cancellation: Cancellation
  ) throws(ObjectStoreError) -> ETag {
    try put(
      key, { .stream(HTTPBodyReader(body)) }, digests: body.digests(cancellation), condition: condition,
      headers: headers(key, metadata, isFile: true), readsBack: true, cancellation: cancellation)
  }

  package func read(
    _ key: ObjectKey, from offset: Int64, ifMatch known: ETag?, into receiver: any BodyReceiver,
    cancellation: Cancellation
  ) throws(ObjectStoreError) {
    var headers: [SigningRequest.Field] = []
    // A range without bytes cannot be requested.
    let last = receiver.end.map { max($0 - 1, offset) }
    if offset > 0 || last != nil {
      headers.append(("range", "bytes=\(offset)-\(last.map(String.init) ?? "")"))
    }
    if let known { headers.append(("if-match", quoting.withLock { $0 }.header(known))) }
    let request = SigningRequest(
      .get, host: endpoint.host, path: try endpoint.path(of: key), headers: headers)
    let stream = HTTPBodyReceiver(offset: offset, receiver) { response in
      response.headers["etag"].flatMap(ETagQuoting.tag)
    }
    let response = try send(request, about: key.text, receiver: stream, cancellation)
    switch response.status {
    case 200, 206: try stream.begin(response)
    case 416:
      // All bytes are there already.
      let size = response.headers["content-range"].flatMap(ContentRange.init)?.size
      guard size == offset else {
        throw ObjectStoreError(.preconditionFailed, "\(key): the object ends before byte \(offset)")
      }
      try receiver.begin(size: size, etag: nil)
    case 412: throw ObjectStoreError(.preconditionFailed, "\(key): the object has been changed")
    default: throw failure(response, reading: key, cancellation)
    }
  }
}

extension S3Store: MultipartStore {
  package func startUpload(_ key: ObjectKey, metadata: ObjectMetadata, cancellation: Cancellation)
    throws(ObjectStoreError) -> ObjectUpload
  {
    let request = SigningRequest(
      .post, host: endpoint.host, path: try endpoint.path(of: key), query: [("uploads", "")],
      headers: headers(key, metadata, isFile: true))
    let response = try send(request, about: key.text, body: .bytes([]), cancellation)
    guard response.isSuccess else { throw failure(response, about: key.text, isWriting: true) }
    var id = ""
    try XMLReader.read(response.body) { path, text in
      if path == ["InitiateMultipartUploadResult", "UploadId"] { id = text }
      return true
    }
    guard !id.isEmpty else {
      throw ObjectStoreError(.failed(.foreign), "\(key): the store's response has no id of the upload")
    }
    return ObjectUpload(key: key, id: id)
  }

  package func unfinishedUploads(below prefix: ObjectPrefix, cancellation: Cancellation)
    throws(ObjectStoreError) -> [ObjectUpload]
  {
    let base = endpoint.prefix.map { $0.text + "/" } ?? ""
    var uploads: [ObjectUpload] = []
    var (keyMarker, idMarker) = ("", "")
    while true {
      var query: [SigningRequest.Field] = [
        ("uploads", ""), ("prefix", base + prefix.text), ("max-uploads", "1000"),
      ]
      if !keyMarker.isEmpty { query += [("key-marker", keyMarker), ("upload-id-marker", idMarker)] }
      let request = SigningRequest(.get, host: endpoint.host, path: endpoint.bucketPath, query: query)
      let response = try send(request, about: "the uploads of \(prefix)", limit: 4 << 20, cancellation)
      guard response.status == 200 else { throw failure(response, about: "the uploads of \(prefix)") }
      let page = try UploadPage(response.body)
      for upload in page.uploads where upload.key.utf8.starts(with: base.utf8) && !upload.id.isEmpty {
        let text = String(decoding: upload.key.utf8.dropFirst(base.utf8.count), as: UTF8.self)
        guard text.utf8.starts(with: prefix.text.utf8), let key = try? ObjectKey(text) else { continue }
        var found = ObjectUpload(key: key, id: upload.id)
        found.begun = upload.date
        uploads.append(found)
      }
      // Dates of one format are in the order of their characters.
      guard page.isTruncated else { return uploads.ordered { $0.begun > $1.begun } }
      guard page.nextKey != keyMarker || page.nextID != idMarker else {
        throw ObjectStoreError.listingDoesNotAdvance
      }
      (keyMarker, idMarker) = (page.nextKey, page.nextID)
    }
  }

  package func parts(of upload: ObjectUpload, cancellation: Cancellation) throws(ObjectStoreError)
    -> [UploadedPart]
  {
    var (parts, marker) = ([UploadedPart](), 0)
    while true {
      let request = SigningRequest(
        .get, host: endpoint.host, path: try endpoint.path(of: upload.key),
        query: [("uploadId", upload.id), ("part-number-marker", String(marker)), ("max-parts", "1000")])
      let response = try send(request, about: upload.key.text, limit: 4 << 20, cancellation)
      guard response.status == 200 else { throw failure(response, about: upload.key.text) }
      let page = try Self.parts(response.body)
      parts += page.parts
      guard page.isTruncated else { return parts }
      guard let last = page.parts.last?.number, last > marker else {
        throw ObjectStoreError.listingDoesNotAdvance
      }
      marker = last
    }
  }

  private static func parts(_ body: [UInt8]) throws(ObjectStoreError) -> (
    parts: [UploadedPart], isTruncated: Bool
  ) {
    var (parts, isTruncated) = ([UploadedPart](), false)
    var (number, size, etag) = (Int?.none, Int64?.none, ETag?.none)
    try XMLReader.read(body) { path, text in
      guard path.first == "ListPartsResult" else { return false }
      switch path.dropFirst() {
      case ["IsTruncated"]: isTruncated = text == "true"
      case ["Part", "PartNumber"]: number = Int(text)
      case ["Part", "Size"]: size = Int64(text)
      case ["Part", "ETag"]: etag = ETagQuoting.tag(text)
      case ["Part"]:
        if let number, let size, let etag {
          parts.append(UploadedPart(number: number, size: size, etag: etag))
        }
        (number, size, etag) = (nil, nil, nil)
      default: break
      }
      return true
    }
    return (parts, isTruncated)
  }

  package func putPart(_ number: Int, of upload: ObjectUpload, _ body: FileBody, cancellation: Cancellation)
    throws(ObjectStoreError) -> UploadedPart
  {
    let digests = try body.digests(cancellation)
    let request = SigningRequest(
      .put, host: endpoint.host, path: try endpoint.path(of: upload.key),
      query: [("partNumber", String(number)), ("uploadId", upload.id)], headers: [Self.checksum(digests)],
      payload: PayloadHash(of: digests))
    let response = try send(
      request, about: upload.key.text, body: .stream(HTTPBodyReader(body)), cancellation)
    guard response.isSuccess else { throw failure(response, about: upload.key.text, isWriting: true) }
    return UploadedPart(number: number, size: body.count, etag: try etag(of: response, upload.key))
  }

  package func complete(
    _ upload: ObjectUpload, _ parts: [UploadedPart], condition: ObjectCondition, cancellation: Cancellation
  ) throws(ObjectStoreError) -> ETag {
    let items = parts.map { part in
      let etag = Self.escaped(part.etag.text)
      return "<Part><PartNumber>\(part.number)</PartNumber><ETag>\(etag)</ETag></Part>"
    }
    let namespace = "http://s3.amazonaws.com/doc/2006-03-01/"
    let body = Array(
      "<CompleteMultipartUpload xmlns=\"\(namespace)\">\(items.joined())</CompleteMultipartUpload>".utf8)
    var request = SigningRequest(
      .post, host: endpoint.host, path: try endpoint.path(of: upload.key), query: [("uploadId", upload.id)],
      headers: [("content-type", "application/xml")], payload: PayloadHash(of: body))
    let response = try send(
      &request, about: upload.key, body: { .bytes(body) }, condition: condition, readsBack: true, cancellation
    )
    guard response.isSuccess else { throw failure(response, about: upload.key.text, isWriting: true) }
    var found: ETag?
    // A server that takes long begins with 200, and may end with an error.
    try? XMLReader.read(response.body) { path, text in
      if path == ["CompleteMultipartUploadResult", "ETag"] { found = ETagQuoting.tag(text) }
      return true
    }
    if let found { return found }
    var failure = failure(response, about: upload.key.text, isWriting: true)
    if case .failed = failure.reason { failure.reason = .unknownOutcome(retryAfter: nil) }
    throw failure
  }

  /// Returns a text as content of XML.
  private static func escaped(_ text: String) -> String {
    var escaped: [UInt8] = []
    for byte in text.utf8 {
      switch byte {
      case UInt8(ascii: "&"): escaped += "&amp;".utf8
      case UInt8(ascii: "<"): escaped += "&lt;".utf8
      default: escaped.append(byte)
      }
    }
    return String(decoding: escaped, as: UTF8.self)
  }

  package func abort(_ upload: ObjectUpload, cancellation: Cancellation) throws(ObjectStoreError) {
    let request = SigningRequest(
      .delete, host: endpoint.host, path: try endpoint.path(of: upload.key), query: [("uploadId", upload.id)])
    let response = try send(request, about: upload.key.text, cancellation)
    guard response.isSuccess || response.status == 404 else {
      throw failure(response, about: upload.key.text, isWriting: true)
    }
  }
}

/// The XML response to ListMultipartUploads.
private struct UploadPage {
  private(set) var uploads: [(key: String, id: String, date: String)] = []
  private(set) var isTruncated = false
  private(set) var nextKey = ""
  private(set) var nextID = ""

  init(_ body: [UInt8]) throws(ObjectStoreError) {
    var (page, upload) = (self, (key: "", id: "", date: ""))
    try XMLReader.read(body) { path, text in
      guard path.first == "ListMultipartUploadsResult" else { return false }
      switch path.dropFirst() {
      case ["IsTruncated"]: page.isTruncated = text == "true"
      case ["NextKeyMarker"]: page.nextKey = text
      case ["NextUploadIdMarker"]: page.nextID = text
      case ["Upload", "Key"]: upload.key = text
      case ["Upload", "UploadId"]: upload.id = text
      case ["Upload", "Initiated"]: upload.date = text
      case ["Upload"]:
        page.uploads.append(upload)
        upload = ("", "", "")
      default: break
      }
      return true
    }
    self = page
  }
}
