import SatchelCore
import SatchelDocuments
import SatchelJSON
import SatchelStorage

extension StateStore {
  /// Returns the findings in the documents of state. Reads every one; sealed content is checked when its key is set.
  package static func check(_ database: Database) throws -> [StoreFinding] {
    guard try database.has(RecordSchema.subject) else { return [] }
    return try database.read { connection in
      var findings: [StoreFinding] = []
      func report(_ message: String) { findings.append(StoreFinding(code: "state", message: message)) }
      try ReservedReader.each(connection) { key, stored in
        guard let id = StateID(key) else {
          if let message = StateVersions.defect(key, stored) { report(message) }
          return
        }
        // The check of the documents names one that is not JSON.
        guard stored.body.withUnsafeBytes({ (try? JSONScanner.check($0)) != nil }) else { return }
        do {
          let document = try StateDocument(stored, of: id)
          for defect in document.defects(database.keyring.keys) { report("\(id.text): \(defect)") }
        } catch let error as SatchelError where error.code == .damaged {
          report(error.message)
        }
      }
      return findings
    }
  }

  /// The numbers of values, members, scores and items that are not reserved, of a store that has the tables of records.
  package static func counts(_ connection: Connection) throws -> (
    values: Int, members: Int, scores: Int, items: Int
  ) {
    var counts = (values: 0, members: 0, scores: 0, items: 0)
    try ReservedReader.each(connection) { key, stored in
      guard let id = StateID(key), !id.name.isReserved, let document = try? StateDocument(stored, of: id)
      else {
        return
      }
      switch document.content {
      case .plain(.value(let value)): counts.values += value == nil ? 0 : 1
      case .plain(.list(let list)): counts.items += list.items.count
      case .plain(.set(let members)): counts.members += members.count
      case .plain(.scores(let scores)): counts.scores += scores.count
      case .sealed: counts.values += id.kind == .value ? 1 : 0
      }
    }
    return counts
  }
}

extension StateDocument {
  /// The contradictions in a document that can be read, and its changes that wait.
  fileprivate func defects(_ keys: Keyring.Keys) -> [String] {
    var defects: [String] = []
    if mark?.isSynced == true, id.syncKey == nil { defects.append("cannot be synchronized") }
    if isRemoved {
      if id.kind != .value { defects.append("was removed; only values can be") }
      if hasContent { defects.append("was removed, and has a value") }
    }
    for operation in waiting {
      let known = try? StateEntry.operation(operation, writer: 0, keys: [:])
      defects.append(
        known?.target.id == id ? "a change waits for the encryption key" : "a change that waits is damaged")
    }
    guard case .sealed(let bytes) = content else { return defects }
    if id.kind != .value, !isSensitive { defects.append("is sealed, and not sensitive") }
    if SealedValue.keyName(of: bytes) == nil {
      defects.append("is not sealed")
    } else if let name = keyName, keys[name] != nil, (try? opened(keys)) == nil {
      defects.append("cannot be opened")
    }
    return defects
  }
}

extension StateVersions {
  /// Returns the reason why a document that is not one of state cannot be a migration; nil for a sound one.
  fileprivate static func defect(_ key: String, _ stored: ReservedDocument) -> String? {
    let versions = StateVersions(version: { 1 }) { $0 == key ? stored : nil }
    guard key.hasPrefix("@migration/"), let version = Int(key.dropFirst(11)), Self.key(version) == key,
      (2...Int(Int32.max)).contains(version)
    else { return "\(key): is no state" }
    do {
      _ = try versions.migration(to: version, callback: nil)
      _ = try versions.kept(to: version)
      return nil
    } catch {
      return "\(error)"
    }
  }
}
