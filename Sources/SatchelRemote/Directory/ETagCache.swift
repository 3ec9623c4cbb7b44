import SatchelCore

/// Returns the ETags of a directory's files for a listing; a file is read again only after it has changed.
///
/// File systems record times with limited granularity, so a file that is written twice within one tick has
/// the same times. Therefore a hash is cached only if the file was read after the tick of its last write, by
/// the file system's own clock. Only writes through a memory mapping, which does not update times, can go
/// undetected; and only by a listing, because every other call reads the file.
struct ETagCache {
  private let tree: DirectoryTree
  private let file: ETagCacheFile
  /// The hashes from earlier listings; nil until they are needed.
  private var known: [FileVersion: [UInt8]]?
  /// The hashes to be saved.
  private var new: [FileVersion: [UInt8]] = [:]
  /// The temporary file for the new hashes; its times also show when this listing began to read.
  private var incoming: IncomingFile?

  /// - Parameter path: the prefix of the keys in the directory; empty, or with a slash at its end
  init(_ tree: DirectoryTree, of path: String) {
    self.tree = tree
    file = ETagCacheFile(tree, of: path)
  }

  /// Returns the listing entry of a file.
  ///
  /// - Parameter status: the status from the directory scan
  /// - Returns: nil when the file no longer exists; an entry without an ETag when it cannot be read
  /// - Throws: `.cancelled`
  mutating func entry(
    _ key: ObjectKey, name: String, in directory: borrowing Descriptor, status: stat,
    _ cancellation: Cancellation
  ) throws(ObjectStoreError) -> ObjectPage.Entry? {
    let known = self.known ?? file.read()
    self.known = known
    if let hash = known[FileVersion(status)] {
      return ObjectPage.Entry(key: key, size: Int64(status.st_size), etag: ETag(hash: hash))
    }
    let startTime = startTime()
    do throws(ObjectStoreError) {
      guard let file = try tree.object(key, named: name, in: directory) else { return nil }
      guard file.size <= StoredObject.maximumSize else { return ObjectPage.Entry(key: key, size: file.size) }
      let (hash, version) = (try file.hash(cancellation), FileVersion(file.status))
      if let startTime, version.changed < startTime { new[version] = hash }
      return ObjectPage.Entry(key: key, size: file.size, etag: ETag(hash: hash))
    } catch {
      guard error.reason != .cancelled else { throw error }
      return ObjectPage.Entry(key: key, size: Int64(status.st_size))
    }
  }

  /// Returns when this listing began to read, by the file system's clock; nil when nothing can be cached
  /// because the directory is read-only.
  private mutating func startTime() -> Int64? {
    if incoming == nil, let directory = try? tree.directory(DirectoryStore.incoming) {
      incoming = try? IncomingFile(in: directory, tree)
    }
    return incoming?.status.map { FileVersion($0).changed }
  }

  /// Saves the new hashes, and the known ones of the files that still exist.
  mutating func save(_ present: some Sequence<FileVersion>) {
    guard let incoming, !new.isEmpty else { return }
    for version in present { if let hash = known?[version] { new[version] = hash } }
    // An error is ignored: the files are read again.
    try? file.write(new, in: incoming)
  }
}
