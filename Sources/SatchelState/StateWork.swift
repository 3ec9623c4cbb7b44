import SatchelCore
import SatchelDocuments
import SatchelJSON
import SatchelStorage
import SatchelSync

/// The changes of state in one transaction. Documents are read once, changed in memory, and written by `finish`.
struct StateWork {
  /// A document, and what has become of it.
  private struct Known {
    var document: StateDocument
    var isWritten = false
    /// Its content changed.
    var isChanged = false
    var isMarked = false
    /// The decision about an entry of the sync log has changed its content: that is no local change.
    var isMerged = false
    /// It was not synchronized for some time: an entry of the sync log may wait for the mark.
    var isResumed = false
  }

  private let context: StateContext
  private let transaction: Transaction
  private let documents: ReservedWriter
  private var known: [StateID: Known] = [:]
  /// The ids of known documents, in the order in which they were first used.
  private var order: [StateID] = []
  private var sealingKey: EncryptionKey?

  init(_ context: StateContext, _ transaction: Transaction) {
    self.context = context
    self.transaction = transaction
    documents = context.documents.reserved(in: transaction)
  }

  private var keyring: Keyring { context.keyring }

  // MARK: Documents

  /// - Throws: `.damaged`
  mutating func document(_ id: StateID) throws -> StateDocument {
    if let known = known[id] { return known.document }
    let document = try documents.state(id, context.cache)?.document ?? StateDocument(id)
    begin(document)
    return document
  }

  private mutating func begin(_ document: StateDocument) {
    if known.updateValue(Known(document: document), forKey: document.id) == nil { order.append(document.id) }
  }

  /// Changes a document in place, which `finish` writes if `body` says so.
  private mutating func change<Result>(
    _ id: StateID, _ body: (inout Known, inout StateWork) throws -> Result
  ) throws -> Result {
    _ = try document(id)
    // Taken out, so that its content is not copied.
    guard var taken = known.removeValue(forKey: id) else { throw SatchelError(.invalid, id.location) }
    defer { known[id] = taken }
    return try body(&taken, &self)
  }

  /// Writes the changed documents, notifies observers of changed content, and records changes of synchronized state in
  /// the sync log.
  ///
  /// - Returns: the documents that were written, with their versions
  @discardableResult
  mutating func finish() throws -> [StateCache.Entry] {
    var (entries, noticed, synced): ([StateCache.Entry], [StateID], [Known]) = ([], [], [])
    for known in order.compactMap({ known[$0] }) {
      let (document, id) = (known.document, known.document.id)
      if known.isChanged || known.isMerged { noticed.append(id) }
      if known.isChanged || known.isMarked, document.mark?.isSynced == true { synced.append(known) }
      guard known.isWritten else { continue }
      if document.isVoid {
        try documents.remove(id.text)
      } else {
        let isSealing = document.isSensitive && document.hasContent && !document.isSealed
        let version = try documents.put(
          id.text, try document.stored(sealedBy: isSealing ? key(for: document) : nil))
        if !document.isSensitive { entries.append(StateCache.Entry(version: version, document: document)) }
      }
    }
    transaction.note(noticed)
    guard !synced.isEmpty, try SyncTracker.isBound(context.database),
      let tracker = try SyncTracker(transaction)
    else { return entries }
    for known in synced {
      // Only a document that another program has written has a name without a key.
      guard let key = known.document.id.syncKey else { continue }
      try tracker.notePut(key)
      if known.isResumed { try tracker.reconsider(key) }
    }
    return entries
  }

  /// Keeps the result of a decision about an entry of the sync log.
  mutating func merge(_ document: StateDocument, hasChanged: Bool) throws {
    try change(document.id) { known, _ in
      known.document = document
      known.isWritten = true
      if hasChanged { known.isMerged = true }
    }
  }

  // MARK: Changes

  /// Applies a change, of content or of a mark. Content that a change replaces as a whole may be damaged; a change of
  /// sensitive content whose key is not set waits in the document.
  ///
  /// - Throws: `.damaged`
  mutating func apply(_ operation: StateOperation) throws {
    let id = operation.id
    if case .mark(let mark) = operation.action { return try self.mark(id, mark) }
    do {
      _ = try document(id)
    } catch let error as SatchelError where error.code == .damaged && operation.replacesContent {
      begin(StateDocument(id))
    }
    if id.kind != .value { context.cache.note(id, isSensitive: try document(id).isSensitive) }
    try change(id) { known, work in
      // Removing all items requires no key, and cancels waiting changes.
      if operation.isClearing { known.document.waiting = [] } else { try work.applyWaiting(to: &known) }
      do {
        guard known.document.waiting.isEmpty else { throw SatchelError.keyNotSet(id.location) }
        try work.apply(operation, to: &known)
      } catch let error as SatchelError where error.code == .unauthorized && id.kind != .value {
        known.document.waiting.append(try work.keyring.current.map(operation.sealed) ?? operation.json)
        known.isWritten = true
      }
    }
  }

  /// Sets the mark of state, if it has another one. A damaged document keeps its own.
  mutating func mark(_ id: StateID, _ mark: StateMark) throws {
    try change(id) { known, _ in
      if known.document.mark == mark { return }
      if mark.isSynced, known.document.mark?.isSynced == false { known.isResumed = true }
      known.document.mark = mark
      (known.isWritten, known.isMarked) = (true, true)
    }
  }

  /// - Throws: `.unauthorized` for sensitive content whose key is not set, before anything is changed; `.damaged`
  private mutating func apply(_ operation: StateOperation, to known: inout Known) throws {
    if case .locked = operation.action { throw SatchelError.keyNotSet(operation.id.location) }
    if !operation.replacesContent, known.document.isSensitive || known.document.isSealed {
      let content = try known.document.opened(keyring.keys)
      if known.document.isSensitive { _ = try key(for: known.document) }
      known.document.content = .plain(content)
    }
    known.document.apply(operation)
    (known.isWritten, known.isChanged) = (true, true)
  }

  /// Applies waiting changes, until the first whose key is not set.
  private mutating func applyWaiting(to known: inout Known) throws {
    while let waiting = known.document.waiting.first {
      do {
        let operation = try StateOperation(waiting, writer: 0, keys: keyring.keys)
        guard operation.id == known.document.id else { return }
        try apply(operation.credible(at: transaction.now), to: &known)
      } catch let error as SatchelError where error.isRejection {
        return
      } catch is JSONError {
        // Only another program can have written it.
        return
      }
      known.document.waiting.removeFirst()
    }
  }

  /// Applies the waiting changes of all sensitive state whose key is set now.
  mutating func applyWaiting() throws {
    for id in try sensitive() { try applyWaiting(of: id) }
  }

  /// Applies the waiting changes of a list, a set or scores.
  mutating func applyWaiting(of id: StateID) throws {
    try change(id) { known, work in try work.applyWaiting(to: &known) }
  }

  /// Removes the content of a list, a set or scores, and its waiting changes; requires no key.
  mutating func clear(_ id: StateID) throws {
    let now = transaction.now
    try change(id) { known, _ in
      if known.document.hasContent {
        known.document.set(StateContent(id.kind), at: now)
        known.isChanged = true
      }
      known.document.waiting = []
      known.isWritten = true
    }
  }

  // MARK: Sensitive state

  /// The ids of documents that are sealed.
  private func sensitive() throws -> [StateID] {
    var ids: [StateID] = []
    try ReservedReader.eachSealed(documents.connection, states { id, _ in ids.append(id) })
    return ids
  }

  /// Returns the key that seals a document.
  ///
  /// - Throws: `.unauthorized` when it is not set, or is not the store's
  mutating func key(for document: StateDocument) throws -> EncryptionKey {
    if let sealingKey { return sealingKey }
    guard let current = keyring.current else { throw SatchelError.keyNotSet(document.id.location) }
    if document.keyName == current.name { return current }
    let key = try keyring.sealingKey(documents.connection) { document.id.location }
    sealingKey = key
    return key
  }

  /// Sets whether a list, a set or scores are sensitive; content is sealed or opened.
  ///
  /// - Throws: `.unauthorized` when there is content, and its key is not set, before anything is changed
  mutating func setSensitive(_ id: StateID, _ isSensitive: Bool) throws {
    try change(id) { known, work in
      guard known.document.isSensitive != isSensitive else { return }
      if known.document.hasContent {
        if isSensitive { _ = try work.key(for: known.document) }
        known.document.content = .plain(try known.document.opened(work.keyring.keys))
        known.isChanged = true
      }
      known.document.isSensitive = isSensitive
      known.isWritten = true
    }
  }

  /// Seals everything that is sealed with another key.
  mutating func reseal(with key: EncryptionKey, _ keys: Keyring.Keys) throws {
    for id in try sensitive() {
      try change(id) { known, work in
        try work.applyWaiting(to: &known)
        if known.document.isSealed, known.document.keyName != key.name {
          known.document.content = .sealed(
            try StateDocument.sealed(known.document.opened(keys), of: id, by: key))
          known.isWritten = true
        }
      }
    }
    sealingKey = key
  }

  // MARK: Versions

  /// Migrates the host's values to another version.
  ///
  /// - Throws: `.invalid`, `.newer`; the transaction must fail then
  mutating func migrate(to version: Int, _ declaration: StateDeclaration) throws {
    let before = try StateReader.plainValues(documents.connection)
    let path = try context.documents.readReserved {
      try $0.migrations(
        to: version, by: declaration.migrations, callback: declaration.callback, isEmpty: before.isEmpty)
    }
    var after = before
    try documents.migrate(&after, along: path, to: version)
    func change(_ id: StateID, _ action: StateOperation.Action) throws {
      try apply(
        StateOperation(
          target: StateTarget(id: id), action: action, time: transaction.now, writer: 0, sequence: 0))
    }
    for (key, value) in after where before[key] != value {
      let id = StateID(.value, try StateName(ofHost: key, as: "key"))
      if try document(id).isSealed {
        throw SatchelError(.invalid, "\(id.location): is sensitive, and a migration would replace it").at(
          id.details)
      }
      try StateStore.check(value, at: id.location)
      try change(id, .set(value))
    }
    for (key, _) in before where after[key] == nil {
      try change(StateID(.value, StateName(sound: key)), .remove)
    }
    // Synchronized values whose key changed stay synchronized.
    for (from, to) in path.moved where after[to] != nil && before[from] != nil {
      let id = StateID(.value, try StateName(ofHost: to, as: "key"))
      guard let mark = try document(StateID(.value, StateName(sound: from))).mark,
        try document(id).mark == nil, id.syncKey != nil
      else { continue }
      try self.mark(id, mark)
    }
  }

  // MARK: Signing out

  /// Removes synchronized and sensitive content, and what is reserved: its names say what the user read. What the host
  /// marked stays marked. None of it is a change that is synchronized.
  mutating func signOut() throws {
    var (keys, isOfStories) = ([String](), false)
    try ReservedReader.each(documents.connection) { key, _ in keys.append(key) }
    for id in keys.compactMap({ StateID($0) }) {
      // A damaged document may be the user's.
      let document = try? document(id)
      let isUsers =
        document.map {
          $0.mark?.isSynced == true || $0.isSensitive || $0.isSealed || !$0.waiting.isEmpty
        } ?? true
      guard isUsers || id.name.isReserved else { continue }
      var rest = StateDocument(id)
      if let document, !id.name.isReserved {
        (rest.mark, rest.isSensitive) = (document.mark, document.isSensitive)
      }
      begin(rest)
      try change(id) { known, _ in
        known.isWritten = true
        known.isMerged = !id.name.isReserved && document?.hasContent ?? true
      }
      isOfStories = isOfStories || id.name.isReserved
    }
    if isOfStories { transaction.note(subject: .stories, keys: ["*"]) }
  }
}

extension MigrationRun.Path {
  /// The keys of whole values that the migrations move.
  fileprivate var moved: [(from: String, to: String)] {
    migrations.flatMap { migration -> [(from: String, to: String)] in
      guard case .steps(let steps) = migration else { return [] }
      return steps.compactMap { step in
        switch step {
        case .rename(let from, let to), .move(let from, let to):
          guard from.components.count == 1, to.components.count == 1 else { return nil }
          let (from, to) = (from.components[0], to.components[0])
          return isUp ? (from, to) : (to, from)
        default: return nil
        }
      }
    }
  }
}
