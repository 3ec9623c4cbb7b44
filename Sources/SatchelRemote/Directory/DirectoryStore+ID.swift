import SatchelCore
import SatchelJSON

/// The content of the directory at a path.
package enum RemotePlace: Sendable, Equatable {
  /// Nothing, or nothing at all in the directory.
  case absent
  case empty
  /// Files, and no id.
  case unnamed
  case named(String)
}

/// A remote whose place may be taken by another one: a directory, at whose path another disk may be mounted, or none.
package protocol PlacedStore: ObjectStore {
  /// Looks what is there; writes nothing.
  func place() throws(ObjectStoreError) -> RemotePlace

  /// Sets the id that the next write gives the directory if it has none.
  func setID(_ id: String)
}

/// The id of the directory: "id" of the JSON object in `.satchel/remote.json`.
extension DirectoryStore: PlacedStore {
  private static let name = "remote.json"
  private static let maxSize = 4096

  package func place() throws(ObjectStoreError) -> RemotePlace {
    guard let root = try tree.root() else { return .absent }
    if let id = try readID() { return .named(id) }
    let names = try DirectoryEntryName.all(in: root.descriptor)
    return names.allSatisfy { $0.text == DirectoryTree.reserved } ? .empty : .unnamed
  }

  package func setID(_ id: String) { knownID.withLock { $0 = id } }

  /// Reads the id; nil where the file is missing or damaged.
  private func readID() throws(ObjectStoreError) -> String? {
    guard let reserved = try tree.directory([DirectoryTree.reserved]) else { return nil }
    let number = openat(reserved.number, Self.name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)
    guard number >= 0 else {
      if errno == ENOENT { return nil }
      throw .system(errno, "\(DirectoryTree.reserved)/\(Self.name)")
    }
    let file = Descriptor(number)
    var bytes = [UInt8](repeating: 0, count: Self.maxSize)
    let count = bytes.withUnsafeMutableBytes { pread(file.number, $0.baseAddress, $0.count, 0) }
    guard count > 0, let value = try? JSONValue(parsing: Array(bytes.prefix(count))),
      let id = value["id"]?.stringValue, HexadecimalName.isName(id, digits: 32)
    else { return nil }
    return id
  }

  /// Gives the directory an id, if it has none. The caller holds the lock.
  func writeID() throws(ObjectStoreError) {
    if hasID.withLock({ $0 }) { return }
    if try readID() == nil {
      let id = knownID.withLock { $0 } ?? HexadecimalName.random(digits: 32)
      guard let reserved = try tree.directory([DirectoryTree.reserved]),
        let incoming = try tree.directory(Self.incoming, making: true)
      else { return }
      let file = try IncomingFile(in: incoming, tree.calls)
      try file.write(Array(#"{"id":"\#(id)"}"#.utf8), .never)
      try file.move(to: reserved, Self.name)
    }
    hasID.withLock { $0 = true }
  }
}
