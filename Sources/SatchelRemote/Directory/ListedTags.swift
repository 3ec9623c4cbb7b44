import SatchelStorage

/// Finds the tags of a directory's files for a listing: what was read once is not read again until it is touched.
///
/// File systems keep time in steps, so that a file that is written again within one looks as it did before. What is
/// remembered was read after the step in which its file was written last, by the clock of the file system itself. So
/// only who writes through a mapping of the file into memory, which has no times, can go unnoticed; and only by a
/// listing, because everything else reads the file.
struct ListedTags {
  private let tree: DirectoryTree
  private let file: TagFile
  /// Hashes from earlier listings; nil before they are needed.
  private var known: [ObjectStamp: [UInt8]]?
  /// Hashes to be remembered.
  private var new: [ObjectStamp: [UInt8]] = [:]
  /// Will hold them; tells also when this listing has begun to read.
  private var incoming: IncomingFile?

  /// - Parameter path: what the keys in the directory begin with; empty, or with a slash at its end
  init(_ tree: DirectoryTree, of path: String) {
    self.tree = tree
    file = TagFile(tree, of: path)
  }

  /// What a listing says of a file.
  ///
  /// - Parameter status: as it was a moment ago
  /// - Returns: nil when it is gone; without a tag when it cannot be read
  /// - Throws: `.cancelled`
  mutating func entry(
    _ key: ObjectKey, _ name: String, in directory: borrowing Descriptor, _ status: stat,
    _ cancellation: Cancellation
  ) throws(ObjectStoreError) -> ObjectPage.Entry? {
    let known = self.known ?? file.read()
    self.known = known
    if let hash = known[ObjectStamp(status)] {
      return ObjectPage.Entry(key: key, size: Int64(status.st_size), etag: ETag(hash: hash))
    }
    let begun = begin()
    do throws(ObjectStoreError) {
      guard let file = try tree.object(key, named: name, in: directory) else { return nil }
      guard file.size <= ObjectFile.maximumSize else { return ObjectPage.Entry(key: key, size: file.size) }
      let (hash, stamp) = (try file.hash(cancellation), ObjectStamp(file.status))
      if let begun, stamp.changed < begun { new[stamp] = hash }
      return ObjectPage.Entry(key: key, size: file.size, etag: ETag(hash: hash))
    } catch {
      guard error.reason != .cancelled else { throw error }
      return ObjectPage.Entry(key: key, size: Int64(status.st_size))
    }
  }

  /// When this listing has begun to read, by the clock of the file system; nil where nothing can be remembered,
  /// because the directory is only read from.
  private mutating func begin() -> Int64? {
    if incoming == nil, let place = try? tree.directory(DirectoryStore.incoming) {
      incoming = try? IncomingFile(in: place)
    }
    return incoming?.status.map { ObjectStamp($0).changed }
  }

  /// Remembers what was read, beside what was known of the files that are there.
  mutating func keep(_ present: some Sequence<ObjectStamp>) {
    guard let incoming, !new.isEmpty else { return }
    for stamp in present { if let hash = known?[stamp] { new[stamp] = hash } }
    // Else it is read again.
    try? file.write(new, in: incoming)
  }
}
