import SatchelCore
import SatchelStorage

/// Receives the bytes of an asset. Valid during the call that it was given to, and on its thread.
public final class AssetWriter {
  private let folder: AssetFolder?
  private let limit: Int64
  private var hash = SHA256()
  /// The first bytes, until there are more than a row may have, or all of a store in memory.
  private var head: [UInt8] = []
  private var incoming: AssetFolder.Incoming?
  /// The number of bytes that were written to the file.
  private var written: Int64 = 0
  /// Seals the bytes of a sensitive asset: what is not sealed is never written.
  private(set) var sealer: StoredSealer?
  /// The first failure: what follows it would not be the bytes of the asset.
  private var failure: (any Error)?
  /// The number of bytes.
  public private(set) var size: Int64 = 0
  /// The download whose bytes these are; nil for bytes that are put.
  weak var partial: PartialAsset?

  struct Outcome {
    var digest: AssetDigest
    var size: Int64
  }

  /// - Parameter folder: nil for a store in memory
  init(_ folder: AssetFolder?, limit: Int64, isSealed: Bool) throws {
    (self.folder, self.limit) = (folder, limit)
    sealer = isSealed ? try StoredSealer() : nil
  }

  var isSealed: Bool { sealer != nil }
  /// Whether bytes could not be appended.
  var hasFailed: Bool { failure != nil }

  /// Appends bytes, which are copied.
  ///
  /// - Throws: `SatchelError` `.full` for more than are allowed, `.io`; the same again from then on, and when the bytes are
  ///   to be put
  public func append(_ bytes: UnsafeRawBufferPointer) throws {
    if let failure { throw failure }
    do {
      try add(bytes)
    } catch {
      failure = error
      throw error
    }
    partial?.advance()
  }

  private func add(_ bytes: UnsafeRawBufferPointer) throws {
    guard Int64(bytes.count) <= limit - size else {
      throw SatchelError(.full, "the asset has more than the \(limit) bytes that are allowed").at(
        limit: Int(limit))
    }
    hash.update(bytes)
    if let folder, incoming == nil, head.count + bytes.count > AssetStore.maxRow {
      incoming = try folder.makeIncoming()
      try head.withUnsafeBytes { try write($0) }
      head = []
    }
    if incoming != nil { try write(bytes) } else { head.append(contentsOf: bytes) }
    size += Int64(bytes.count)
  }

  private func write(_ bytes: UnsafeRawBufferPointer) throws {
    if sealer == nil { return try store(bytes) }
    try sealer?.append(bytes) { sealed in try sealed.withUnsafeBytes { try store($0) } }
  }

  private func store(_ bytes: UnsafeRawBufferPointer) throws {
    try incoming?.file.write(bytes, at: written)
    written += Int64(bytes.count)
  }

  /// Appends bytes.
  public func append(_ bytes: [UInt8]) throws { try bytes.withUnsafeBytes { try append($0) } }

  // MARK: Interrupted downloads

  /// The file that has the bytes; nil while they are in memory.
  var file: AssetFolder.Incoming? { incoming }

  /// Begins with the bytes that an earlier writer has left, which are hashed.
  ///
  /// - Parameter count: the number of bytes to keep; the file has them
  func resume(_ file: AssetFolder.Incoming, count: Int64) throws {
    try file.file.truncate(to: count)
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 18, alignment: 16)
    defer { buffer.deallocate() }
    while size < count {
      let read = try file.file.read(into: buffer, at: size)
      guard read > 0 else { throw SatchelError(.io, "\(file.file.path): has become shorter") }
      hash.update(UnsafeRawBufferPointer(rebasing: buffer[..<read]))
      size += Int64(read)
    }
    (incoming, written) = (file, count)
  }

  /// Begins a fetch with what an interrupted one has left.
  ///
  /// - Returns: the download, whose `etag` its bytes have; nil for bytes that cannot go on
  package func goOn() throws -> PartialAsset? {
    try partial?.goOn()
    return partial
  }

  /// Removes all bytes.
  func restart() throws {
    try incoming?.file.truncate(to: 0)
    if isSealed { sealer = try StoredSealer() }
    (hash, head, failure, size, written) = (SHA256(), [], nil, 0, 0)
  }

  /// Removes the file, unless it has its name already.
  func discard() { incoming?.isKept = false }

  // MARK: Putting

  /// Syncs what was written.
  func finish() throws -> Outcome {
    if let failure { throw failure }
    if incoming != nil, let last = sealer?.finish() { try last.withUnsafeBytes { try store($0) } }
    try incoming?.file.sync()
    guard let digest = AssetDigest(hash.digest()) else {
      throw SatchelError(.internal, "a SHA-256 has 32 bytes")
    }
    return Outcome(digest: digest, size: size)
  }

  /// Returns a writer with the same bytes that has sealed them; itself if it has.
  func sealed() throws -> AssetWriter {
    if isSealed { return self }
    let other = try AssetWriter(folder, limit: limit, isSealed: true)
    try other.append(head)
    var offset: Int64 = 0
    while let file = incoming, offset < written {
      let part = try [UInt8](unsafeUninitializedCapacity: 1 << 18) { buffer, count in
        count = try file.file.read(into: UnsafeMutableRawBufferPointer(buffer), at: offset)
      }
      if part.isEmpty { throw SatchelError(.io, "\(file.file.path): has become shorter") }
      try other.append(part)
      offset += Int64(part.count)
    }
    _ = try other.finish()
    return other
  }

  /// Gives the bytes their place, in the transaction.
  ///
  /// - Parameter name: of the file
  func place(as name: AssetDigest, in table: AssetTable, _ id: Int64) throws -> AssetTable.Place {
    if let folder, let incoming {
      try folder.place(incoming, as: name)
      return .file
    }
    if sealer != nil { try head.withUnsafeBytes { try sealer?.append($0) { _ in } } }
    try (sealer?.finish() ?? head).withUnsafeBytes { try table.insert($0, of: id) }
    return .row
  }
}
