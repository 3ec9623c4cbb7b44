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
        guard let id = StateID(key) else { return report("\(key): is no state") }
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
    try ReservedReader.each(
      connection,
      states { id, document in
        if id.name.isReserved { return }
        if id.kind == .value, document.hasContent { counts.values += 1 }
        guard case .plain(let content) = document.content else { return }
        counts.items += content.items.count
        counts.members += content.members.count
        counts.scores += content.scores.count
      })
    return counts
  }

  // MARK: Signing out

  /// The number of values, lists, sets and scores that are marked for synchronizing and have content.
  package func countForSync(_ connection: Connection) throws -> Int64 {
    guard try context.hasTables else { return 0 }
    var count: Int64 = 0
    try ReservedReader.each(
      connection, states { if $1.mark?.isSynced == true, $1.hasContent { count += 1 } })
    return count
  }

  /// Removes synchronized and sensitive content, as a part of signing out: it is the user's, other state is the device's.
  /// None of it is a removal that is synchronized. What the host marked stays marked.
  package func signOut(in transaction: Transaction) throws {
    guard try context.hasTables else { return }
    var work = StateWork(context, transaction)
    try work.signOut()
    try work.finish()
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
      let known = try? StateOperation(operation, writer: 0, keys: [:])
      defects.append(
        known?.id == id ? "a change waits for the encryption key" : "a change that waits is damaged")
    }
    guard isSealed else { return defects }
    if id.kind != .value, !isSensitive { defects.append("is sealed, and not sensitive") }
    if keyName == nil {
      defects.append("is not sealed")
    } else if let name = keyName, keys[name] != nil, (try? opened(keys)) == nil {
      defects.append("cannot be opened")
    }
    return defects
  }
}
