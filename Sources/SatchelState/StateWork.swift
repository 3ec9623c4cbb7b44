import SatchelCore
import SatchelDocuments
import SatchelJSON
import SatchelStorage
import SatchelSync

/// The changes of state in one transaction. Documents are read once, changed in memory, and written by `finish`.
struct StateWork {
  private let context: StateContext
  private let transaction: Transaction
  private let documents: ReservedWriter
  private var known: [StateID: StateDocument] = [:]
  private var written = StateIDs()
  /// Content that changed, and state whose mark changed.
  private(set) var changed = StateIDs()
  private var marked = StateIDs()
  /// Content that the decision about an entry of the sync log has changed: that is no local change.
  private var merged = StateIDs()
  /// State that was not synchronized for some time: an entry of the sync log may wait for the mark.
  private var resumed = StateIDs()
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
    if let known = known[id] { return known }
    let document =
      try cached(id) ?? documents.document(id.text).map { try StateDocument($0, of: id) } ?? StateDocument(id)
    known[id] = document
    return document
  }

  private func cached(_ id: StateID) throws -> StateDocument? {
    guard id.kind != .value, context.cache.has(id) else { return nil }
    return try documents.version(of: id.text).flatMap { context.cache[id, $0] }
  }

  /// Keeps a changed document, which `finish` writes.
  mutating func set(_ document: StateDocument) {
    guard known[document.id] != document else { return }
    known[document.id] = document
    written.insert(document.id)
  }

  /// Writes the changed documents, notifies observers of changed content, and records changes of synchronized state in
  /// the sync log.
  ///
  /// - Returns: the documents that were written, with their versions
  @discardableResult
  mutating func finish() throws -> [StateCache.Entry] {
    var entries: [StateCache.Entry] = []
    for id in written.ordered {
      guard let document = known[id] else { continue }
      if document.isVoid {
        try documents.remove(id.text)
      } else {
        let isSealing = document.isSensitive && document.hasContent && document.keyName == nil
        let version = try documents.put(
          id.text, try document.stored(sealedBy: isSealing ? key(for: document) : nil))
        if !document.isSensitive { entries.append(StateCache.Entry(version: version, document: document)) }
      }
    }
    var noticed = changed
    noticed.insert(merged)
    transaction.note(noticed.ordered)
    try track()
    return entries
  }

  private mutating func track() throws {
    var touched = changed
    touched.insert(marked)
    let synced = try touched.ordered.filter { try document($0).mark?.isSynced == true }
    guard !synced.isEmpty, try SyncTracker.isBound(context.database),
      let tracker = try SyncTracker(transaction)
    else { return }
    for id in synced {
      // Only a document that another program has written has a name without a key.
      guard let key = id.syncKey else { continue }
      try tracker.notePut(key)
      if resumed.contains(id) { try tracker.reconsider(key) }
    }
  }

  /// Keeps the result of a decision about an entry of the sync log.
  mutating func merge(_ document: StateDocument, hasChanged: Bool) {
    set(document)
    if hasChanged { merged.insert(document.id) }
  }

  // MARK: Marks

  /// Sets the mark of state, if it has another one. A damaged document keeps its own.
  mutating func mark(_ id: StateID, _ mark: StateMark) throws {
    var document = try document(id)
    if document.mark == mark { return }
    if mark.isSynced, document.mark?.isSynced == false { resumed.insert(id) }
    document.mark = mark
    set(document)
    marked.insert(id)
  }

  // MARK: Changes

  /// Applies a change, of content or of a mark. Content that a change replaces as a whole may be damaged.
  ///
  /// - Throws: `.damaged`
  mutating func apply(any operation: StateOperation) throws {
    let id = operation.target.id
    if case .mark(let mark) = operation.action { return try self.mark(id, mark) }
    do {
      try apply(operation)
    } catch let error as SatchelError where error.code == .damaged && operation.replacesContent {
      known[id] = StateDocument(id)
      try apply(operation)
    }
  }

  /// Applies a change; one of sensitive content whose key is not set waits in the document.
  mutating func apply(_ operation: StateOperation) throws {
    let id = operation.target.id
    var document = try document(id)
    if id.kind != .value { context.sensitive.note(id, document.isSensitive) }
    // Removing all items requires no key, and cancels waiting changes.
    let isClearing = operation.target.kind == .list && operation.action == .remove
    if !isClearing, try applyWaiting(to: &document) { changed.insert(id) }
    do {
      guard document.waiting.isEmpty || isClearing else { throw SatchelError.keyNotSet(id.location) }
      try apply(operation, to: &document)
      changed.insert(id)
    } catch let error as SatchelError where error.code == .unauthorized && id.kind != .value {
      document.waiting.append(try StateEntry.sealed(operation, by: keyring.current))
    }
    set(document)
  }

  /// - Throws: `.unauthorized` for sensitive content whose key is not set, before anything is changed; `.damaged`
  private mutating func apply(_ operation: StateOperation, to document: inout StateDocument) throws {
    switch (document.id.kind, operation.action) {
    case (_, .locked): throw SatchelError.keyNotSet(document.id.location).at(document.id.details)
    case (_, .mark): break
    case (.value, .set(let bytes, isSealed: true)):
      document.set(.value(nil), at: operation.time)
      document.content = .sealed(bytes)
      document.isRemoved = false
    case (.value, .remove):
      document.set(.value(nil), at: operation.time)
      document.isRemoved = document.mark != nil
    case (.list, .remove):
      document.set(StateContent(.list), at: operation.time)
      document.waiting = []
    default:
      var content = try document.id.kind == .value ? StateContent(.value) : document.opened(keyring.keys)
      if document.isSensitive { _ = try key(for: document) }
      content.apply(operation)
      document.set(content, at: operation.time)
    }
  }

  /// Applies waiting changes, until the first whose key is not set.
  ///
  /// - Returns: whether any was applied
  private mutating func applyWaiting(to document: inout StateDocument) throws -> Bool {
    var count = 0
    for waiting in document.waiting {
      do {
        let operation = try StateEntry.operation(waiting, writer: 0, keys: keyring.keys)
        if case .locked = operation.action { break }
        guard operation.target.id == document.id else { break }
        try apply(operation.credible(at: transaction.now), to: &document)
      } catch let error as SatchelError where error.isRejection {
        break
      } catch is JSONError {
        // Only another program can have written it.
        break
      }
      count += 1
    }
    document.waiting.removeFirst(min(count, document.waiting.count))
    return count > 0
  }

  /// Applies the waiting changes of all sensitive state whose key is set now.
  mutating func applyWaiting() throws {
    for id in try sensitive() { try applyWaiting(of: id) }
  }

  /// Applies the waiting changes of a list, a set or scores.
  mutating func applyWaiting(of id: StateID) throws {
    var document = try document(id)
    guard !document.waiting.isEmpty, try applyWaiting(to: &document) else { return }
    set(document)
    changed.insert(id)
  }

  /// Removes the content of a list, a set or scores, and its waiting changes; requires no key.
  mutating func clear(_ id: StateID) throws {
    var document = try document(id)
    if document.hasContent {
      document.set(StateContent(id.kind), at: transaction.now)
      changed.insert(id)
    }
    document.waiting = []
    set(document)
  }

  // MARK: Sensitive state

  /// The ids of documents that are sealed.
  private func sensitive() throws -> [StateID] { try StateReader.sealed(documents.connection).map(\.id) }

  /// Returns the key that seals a document.
  ///
  /// - Throws: `.unauthorized` when it is not set, or is not the store's
  private mutating func key(for document: StateDocument) throws -> EncryptionKey {
    if let sealingKey { return sealingKey }
    guard let current = keyring.current else { throw SatchelError.keyNotSet(document.id.location) }
    if document.keyName == current.name { return current }
    let key = try keyring.sealingKey(documents.connection) { document.id.location }
    sealingKey = key
    return key
  }

  /// Returns the first state that is sealed with another key; nil when nothing is.
  func sealed(notBy key: EncryptionKey) throws -> String? {
    try StateReader.sealed(notBy: key.name, documents.connection)
  }

  /// Checks that content can be sealed.
  ///
  /// - Throws: as `key(for:)`
  mutating func requireKey(for id: StateID) throws { _ = try key(for: document(id)) }

  /// Sets whether a list, a set or scores are sensitive; content is sealed or opened.
  ///
  /// - Throws: `.unauthorized` when there is content, and its key is not set, before anything is changed
  mutating func setSensitive(_ id: StateID, _ isSensitive: Bool) throws {
    var document = try document(id)
    guard document.isSensitive != isSensitive else { return }
    if document.hasContent {
      if isSensitive { _ = try key(for: document) }
      document.content = .plain(try document.opened(keyring.keys))
      changed.insert(id)
    }
    document.isSensitive = isSensitive
    set(document)
  }

  /// Seals everything that is sealed with another key.
  mutating func reseal(with key: EncryptionKey, _ keys: Keyring.Keys) throws {
    for id in try sensitive() {
      var document = try document(id)
      if try applyWaiting(to: &document) { changed.insert(id) }
      if case .sealed = document.content, document.keyName != key.name {
        let text = try StateDocument.text(of: try document.opened(keys), id)
        document.content = .sealed(SealedValue.seal(text, by: key, at: StateDocument.context(id)))
      }
      set(document)
    }
    sealingKey = key
  }

  // MARK: Versions

  var versions: StateVersions {
    StateVersions(version: { try Int(clamping: documents.version) }, read: documents.document)
  }

  /// Keeps a migration, by which the values are migrated back.
  func keep(_ migration: RecordMigration, _ kept: [KeptValue], to version: Int) throws {
    try documents.put(StateVersions.key(version), StateVersions.stored(migration, kept, at: transaction.now))
  }

  func forgetMigration(to version: Int) throws { try documents.remove(StateVersions.key(version)) }

  func setVersion(_ version: Int) throws { try documents.setVersion(Int64(version)) }

  /// Returns the host's values that are not sensitive, by key.
  func plainValues() throws -> JSONObject { try StateReader.plainValues(documents.connection) }

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
          $0.mark?.isSynced == true || $0.isSensitive || $0.keyName != nil || !$0.waiting.isEmpty
        } ?? true
      guard isUsers || id.name.isReserved else { continue }
      if id.name.isReserved {
        isOfStories = true
      } else if document?.hasContent ?? true {
        merged.insert(id)
      }
      var rest = StateDocument(id)
      if let document, !id.name.isReserved {
        (rest.mark, rest.isSensitive) = (document.mark, document.isSensitive)
      }
      known[id] = rest
      written.insert(id)
    }
    if isOfStories { transaction.note(subject: .stories, keys: ["*"]) }
  }
}

/// Distinct ids, in the order in which they were inserted.
struct StateIDs {
  private(set) var ordered: [StateID] = []
  private var known: Set<StateID> = []

  mutating func insert(_ id: StateID) {
    if known.insert(id).inserted { ordered.append(id) }
  }

  func contains(_ id: StateID) -> Bool { known.contains(id) }

  mutating func insert(_ other: StateIDs) {
    for id in other.ordered { insert(id) }
  }
}
