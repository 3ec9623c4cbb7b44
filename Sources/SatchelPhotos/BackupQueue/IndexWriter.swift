import SatchelCore
import SatchelRemote
import SatchelStorage
import SatchelSync

/// Writes the index of this device's files, of which only the parts that changed.
struct IndexWriter {
  let catalogue: PhotoCatalogue
  let session: SyncSession
  let prefix: ObjectPrefix

  init(_ catalogue: PhotoCatalogue, _ session: SyncSession) throws {
    self.catalogue = catalogue
    self.session = session
    prefix = try Self.prefix(of: session.user)
  }

  static func prefix(of user: UserID) throws -> ObjectPrefix { try ObjectPrefix("photo-index/\(user)/") }

  /// Writes what changed since the last time. Does nothing in a catalogue that has no file in a backup.
  ///
  /// A part is written over the version that this device wrote last. Where there is another one, the store is a
  /// clone, and another device writes under its name: it takes a new one.
  func write() throws {
    for _ in 0..<3 {
      guard let state = try state() else { return }
      guard try write(state) else {
        try change { try $0.rename(Self.name()) }
        continue
      }
      return
    }
    throw SatchelError(.busy, "\(prefix): other programs keep writing this device's index")
  }

  /// A name that no other device has.
  private static func name() -> String {
    String(CatalogueTable.uuid().lowercased().filter { $0 != "-" }.prefix(16))
  }

  private struct State {
    var device: String
    var known: [String: IndexTable.Part]
    var parts: [String: [UInt8]]
  }

  private func state() throws -> State? {
    let found: (device: String?, known: [String: IndexTable.Part], parts: [String: [UInt8]])? =
      try catalogue.read(otherwise: nil) { connection, id in
        let counts = try LocalTable(connection: connection, catalogue: id).counts()
        guard [.queued, .uploading, .uploaded].contains(where: { (counts[$0] ?? 0) > 0 }) else { return nil }
        let table = IndexTable(connection: connection, catalogue: id, of: session.remote)
        let parts = try BackupIndex.parts { visit in
          try FileTable(connection: connection, catalogue: id).each { file in
            if let row = BackupIndex.Row(file) { try visit(row) }
          }
        }
        return (try table.device(), try table.parts(), parts)
      }
    guard let found else { return nil }
    let device = found.device ?? Self.name()
    if found.device == nil { try change { try $0.rename(device) } }
    return State(device: device, known: found.known, parts: found.parts)
  }

  private func change(_ body: (IndexTable) throws -> Void) throws {
    try catalogue.write { transaction, id in
      try body(IndexTable(connection: transaction.connection, catalogue: id, of: session.remote))
    }
  }

  /// - Returns: false where another device writes under this one's name
  private func write(_ state: State) throws -> Bool {
    let writer = ReliableWriter(session.store, retry: session.retry)
    var old = state.known
    for (digits, body) in state.parts.ordered(by: { $0.key < $1.key }) {
      let key = "\(prefix)\(state.device)\(digits.isEmpty ? "" : ".")\(digits).csv"
      let checksum = SHA256.digest(body).hexadecimal
      let known = old.removeValue(forKey: key)
      if known?.checksum == checksum { continue }
      var condition = known.flatMap { ETag($0.etag) }.map { ObjectCondition.ifMatch($0) } ?? .ifAbsent
      var etag: ETag?
      while etag == nil {
        let outcome = try writer.write(
          ObjectKey(key), body, checksum: checksum, condition: condition, cancellation: session.cancellation)
        switch outcome {
        case .written(let written): etag = written
        // Somebody has deleted it.
        case .gone: condition = .ifAbsent
        case .lost: return false
        }
      }
      guard let etag else { return false }
      let id = try session.remote.directoryID()
      try change { try $0.put(key, IndexTable.Part(checksum: checksum, etag: etag.text, remoteID: id)) }
    }
    // Parts of other numbers of digits.
    for (key, part) in old.ordered(by: { $0.key < $1.key }) where key.hasPrefix("\(prefix)\(state.device)") {
      let requests = RetryingRequests(retry: session.retry, cancellation: session.cancellation)
      let name = try ObjectKey(key)
      _ = try requests.ifPresent { () throws(ObjectStoreError) in
        do throws(ObjectStoreError) {
          try session.store.delete(name, ifMatch: ETag(part.etag), cancellation: session.cancellation)
        } catch {
          guard error.reason == .denied, let etag = ETag(part.etag) else { throw error }
          // A key that may not delete.
          _ = try session.store.put(
            name, [], condition: .ifMatch(etag), metadata: .none, cancellation: session.cancellation)
        }
      }
      try change { try $0.remove(key) }
    }
    return true
  }
}

extension BackupIndex.Row {
  /// The row of a file; nil for one whose bytes were not read, and for one of a photo that was deleted here.
  init?(_ file: KnownFile) {
    guard let md5 = file.md5, !file.isHidden, let path = String(validating: file.path, as: UTF8.self) else {
      return nil
    }
    let modified = PhotoFile(file).modified
    self.init(
      path: path, md5: md5, size: file.size, modified: modified, kind: file.kind, photo: file.photo)
  }
}
