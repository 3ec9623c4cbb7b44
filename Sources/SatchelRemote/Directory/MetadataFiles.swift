import SatchelStorage

/// What writers said beside the contents of objects: a small file for each object that has any.
///
/// The file is named by the key and by the tag of the content that it belongs to. So it can be written before the
/// content takes its place, and a crash between the two leaves the old content with its old metadata.
struct MetadataFiles {
  let tree: DirectoryTree

  func read(_ key: ObjectKey, _ etag: ETag) throws(ObjectStoreError) -> ObjectMetadata {
    guard let place = try tree.directory(way(key)[...]) else { return .none }
    let number = openat(place.number, etag.text, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
    guard number >= 0 else {
      if errno == ENOENT { return .none }
      throw .system(errno, key.text)
    }
    let descriptor = Descriptor(number)
    guard let status = descriptor.status else { throw .system(errno, key.text) }
    // Twice what its names and values can be: each line has three bytes more.
    guard status.st_mode & S_IFMT == S_IFREG, status.st_size <= 4 * Int64(ObjectMetadata.maximumSize) else {
      throw damaged(key)
    }
    let bytes = try ObjectFile(file: descriptor, status: status, key: key).body(.never).body
    var values: [String: String] = [:]
    for line in bytes.split(separator: UInt8(ascii: "\n")) {
      guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else { throw damaged(key) }
      let name = String(decoding: line[..<colon], as: UTF8.self)
      values[name] = String(decoding: line[colon...].dropFirst(), as: UTF8.self)
    }
    guard let metadata = try? ObjectMetadata(values) else { throw damaged(key) }
    return metadata
  }

  private func damaged(_ key: ObjectKey) -> ObjectStoreError {
    ObjectStoreError(.failed(.damaged), "\(key): its metadata cannot be read")
  }

  /// Makes ready what belongs to a content that is about to take its place. The store's lock must be held.
  func prepare(_ key: ObjectKey, _ etag: ETag, _ metadata: ObjectMetadata) throws(ObjectStoreError) {
    let way = way(key)
    if metadata == .none {
      guard let place = try tree.directory(way[...]) else { return }
      if unlinkat(place.number, etag.text, 0) != 0, errno != ENOENT { throw .system(errno, key.text) }
      return try place.sync()
    }
    guard let place = try tree.directory(way[...], making: true),
      let incoming = try tree.directory(DirectoryStore.incoming, making: true)
    else { throw ObjectStoreError(.transient(retryAfter: nil), "\(key): its directory vanished") }
    let file = try IncomingFile(in: incoming)
    let lines = metadata.values.sorted { $0.key < $1.key }.map { "\($0.key):\($0.value)\n" }
    try file.write(Array(lines.joined().utf8), .never)
    try file.move(to: place, etag.text)
  }

  /// Forgets what belonged to other contents of a key; to all of them without a tag. The lock must be held.
  func tidy(_ key: ObjectKey, keeping etag: ETag?) {
    let way = way(key)
    guard let place = try? tree.directory(way[...]), let names = try? DirectoryName.all(in: place) else {
      return
    }
    for name in names where name.text != etag?.text { unlinkat(place.number, name.text, 0) }
    if let parent = try? tree.directory(way.dropLast()), let last = way.last {
      // Fails while something is in it, as it should.
      unlinkat(parent.number, last, AT_REMOVEDIR)
    }
  }

  // By its hash: a key may be longer than a name can be.
  private func way(_ key: ObjectKey) -> [String] {
    [DirectoryTree.reserved, "metadata", SHA256.digest(key.text.utf8).hexadecimal]
  }
}
