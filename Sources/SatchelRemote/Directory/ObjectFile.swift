import SatchelCore

/// An object's file, open for reading. It remains the same version while other writers replace the object.
struct ObjectFile: ~Copyable {
  let file: Descriptor
  let status: stat
  let key: ObjectKey

  init(file: consuming Descriptor, status: stat, key: ObjectKey) {
    self.file = file
    self.status = status
    self.key = key
  }

  var size: Int64 { Int64(status.st_size) }

  /// Whether both are the same file; valid only while one of them is open, because inodes are reused.
  func isSame(as other: borrowing ObjectFile) -> Bool {
    status.st_dev == other.status.st_dev && status.st_ino == other.status.st_ino
  }

  /// Computes the ETag by reading the whole content.
  func etag(_ cancellation: Cancellation) throws(ObjectStoreError) -> ETag {
    ETag(hash: try hash(cancellation))
  }

  /// Computes the SHA-256 of the content.
  func hash(_ cancellation: Cancellation) throws(ObjectStoreError) -> [UInt8] {
    var hash = SHA256()
    try forEachPart(cancellation) { hash.update($0) }
    return hash.digest()
  }

  /// - Throws: `.tooLarge`, before anything is read
  func body(
    limit: Int64, _ cancellation: Cancellation
  ) throws(ObjectStoreError) -> (body: [UInt8], etag: ETag) {
    guard size <= limit else { throw .tooLarge(key, limit: limit) }
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
      let length = Int(min(Int64(buffer.count), size - offset))
      let count = buffer.withUnsafeMutableBytes { buffer in
        let count = pread(file.number, buffer.baseAddress, length, off_t(offset))
        if count > 0 { body(UnsafeRawBufferPointer(rebasing: buffer.prefix(count))) }
        return count
      }
      if count < 0 {
        if errno == EINTR { continue }
        throw .system(errno, key.text)
      }
      guard count > 0 else { throw ObjectStoreError(.truncated, "\(key): the file shrank while it was read") }
      offset += Int64(count)
    }
  }
}
