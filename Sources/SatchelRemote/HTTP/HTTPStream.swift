/// Gives the bytes of a file to a request, and keeps the error that breaks it off.
final class HTTPBodyReader {
  let count: Int64
  private let reader: FileBodyReader
  private(set) var failure: ObjectStoreError?

  init(_ body: FileBody) {
    count = body.count
    reader = FileBodyReader(body, isSending: true)
  }

  /// - Returns: the number of bytes; 0 at the end, -1 after an error
  func read(into buffer: UnsafeMutableRawBufferPointer) -> Int64 {
    do throws(ObjectStoreError) {
      return Int64(try reader.read(into: buffer))
    } catch {
      failure = error
      return -1
    }
  }

  func rewind() { reader.rewind() }
}

/// Passes the body of a successful response on, and keeps the error that breaks it off.
final class HTTPBodyReceiver {
  /// The first byte that the receiver wants, of the whole object.
  private let offset: Int64
  private let receiver: any BodyReceiver
  private let etag: (HTTPResponse) -> ETag?
  /// Bytes to skip: those before the offset, of a server that ignores ranges.
  private var skipped: Int64 = 0
  private var hasBegun = false
  private(set) var failure: ObjectStoreError?

  init(offset: Int64, _ receiver: any BodyReceiver, etag: @escaping (HTTPResponse) -> ETag?) {
    self.offset = offset
    self.receiver = receiver
    self.etag = etag
  }

  /// - Returns: false after an error
  func receive(_ block: UnsafeRawBufferPointer, _ response: HTTPResponse) -> Bool {
    do throws(ObjectStoreError) {
      try begin(response)
      let count = Int(min(skipped, Int64(block.count)))
      skipped -= Int64(count)
      if count < block.count { try receiver.receive(UnsafeRawBufferPointer(rebasing: block[count...])) }
      return true
    } catch {
      failure = error
      return false
    }
  }

  /// Called before the first block, and after the last one where there is none.
  func begin(_ response: HTTPResponse) throws(ObjectStoreError) {
    if hasBegun { return }
    hasBegun = true
    var size = response.headers["content-length"].flatMap { Int64($0) }
    if response.status == 206 {
      let range = response.headers["content-range"].flatMap(ContentRange.init)
      guard let range, range.first == offset else {
        throw ObjectStoreError(
          .failed(.foreign), "the store's response has another range than the requested one",
          faultClass: .object)
      }
      size = range.size
    } else {
      skipped = offset
    }
    try receiver.begin(size: size, etag: etag(response))
  }
}

/// The header Content-Range: "bytes 0-9/10", "bytes */10".
struct ContentRange {
  /// Nil for an unsatisfied range.
  private(set) var first: Int64?
  /// The size of the whole; nil when it is unknown.
  private(set) var size: Int64?

  init?(_ text: String) {
    guard text.hasPrefix("bytes ") else { return nil }
    let parts = text.dropFirst(6).split(separator: "/", omittingEmptySubsequences: false)
    guard parts.count == 2 else { return nil }
    size = Int64(parts[1])
    guard parts[0] != "*" else { return }
    guard let start = parts[0].split(separator: "-").first.flatMap({ Int64($0) }), start >= 0 else {
      return nil
    }
    first = start
  }
}
