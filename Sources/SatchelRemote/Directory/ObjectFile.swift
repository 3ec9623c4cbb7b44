import SatchelStorage

/// An object of a directory, open for reading: one version of it, whatever others do meanwhile.
struct ObjectFile: ~Copyable {
  /// The largest object; a bound on memory.
  static let maximumSize: Int64 = 1 << 30

  let file: Descriptor
  let status: stat
  let key: ObjectKey

  init(file: consuming Descriptor, status: stat, key: ObjectKey) {
    self.file = file
    self.status = status
    self.key = key
  }

  var size: Int64 { Int64(status.st_size) }

  /// Whether both are the same version; means something only while one of them is open.
  func isSame(as other: borrowing ObjectFile) -> Bool {
    status.st_dev == other.status.st_dev && status.st_ino == other.status.st_ino
  }

  /// The tag of the content, by reading all of it.
  func etag(_ cancellation: Cancellation) throws(ObjectStoreError) -> ETag {
    ETag(hash: try hash(cancellation))
  }

  /// What the tag is made of: SHA-256 of the content.
  func hash(_ cancellation: Cancellation) throws(ObjectStoreError) -> [UInt8] {
    var hash = SHA256()
    try forEachPart(cancellation) { hash.update($0) }
    return hash.digest()
  }

  func body(_ cancellation: Cancellation) throws(ObjectStoreError) -> (body: [UInt8], etag: ETag) {
    guard size <= Self.maximumSize else {
      throw ObjectStoreError(.failed(.full), "\(key): larger than an object can be, 1 GiB")
    }
    var (hash, body) = (SHA256(), [UInt8]())
    body.reserveCapacity(Int(size))
    try forEachPart(cancellation) { part in
      hash.update(part)
      body.append(contentsOf: part)
    }
    return (body, ETag(hash: hash.digest()))
  }

  private func forEachPart(
    _ cancellation: Cancellation, _ body: (UnsafeRawBufferPointer) -> Void
  ) throws(ObjectStoreError) {
    var buffer = [UInt8](repeating: 0, count: Int(min(max(size, 1), 1 << 20)))
    var offset: Int64 = 0
    while offset < size {
      try cancellation.check()
      let wanted = Int(min(Int64(buffer.count), size - offset))
      let got = buffer.withUnsafeMutableBytes { buffer in
        let got = pread(file.number, buffer.baseAddress, wanted, off_t(offset))
        if got > 0 { body(UnsafeRawBufferPointer(rebasing: buffer.prefix(got))) }
        return got
      }
      if got < 0 {
        if errno == EINTR { continue }
        throw .system(errno, key.text)
      }
      guard got > 0 else { throw ObjectStoreError(.truncated, "\(key): the file shrank while it was read") }
      offset += Int64(got)
    }
  }
}
