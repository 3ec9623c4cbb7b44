import SatchelCore
import SatchelJSON
import SatchelRemote
import SatchelStorage

extension RecordCollection: RecordLedger {
  func binding() throws -> RecordBinding {
    try read { connection, row in
      let sync = try SyncTable(connection: connection, collection: id).syncIdentity()
      return RecordBinding(
        user: sync?["user"]?.stringValue, writer: try SyncTable.writer(connection) ?? "", version: row.version
      )
    }
  }

  func begin(user: UserID) throws {
    try write { work, collection in
      let table = SyncTable(connection: work.connection, collection: id)
      if let known = try table.syncIdentity()?["user"]?.stringValue {
        guard known == user.text else {
          throw SatchelError(.foreign, "\(name): is synchronized as \(known), not as \(user)")
        }
        return
      }
      try work.changing {
        try SyncTable.makeWriter(work.connection)
        try table.begin(user: user.text, time: work.now)
        try work.flush()
        work.forget(id)
      }
    }
  }

  func marks(from cursor: RecordCursor?, limit: Int) throws -> RecordMarks {
    try read { connection, row in
      let table = SyncTable(connection: connection, collection: id)
      guard limit > 0 else { return RecordMarks(marks: [], next: cursor) }
      var marks: [RecordMark] = []
      if row.isSynchronized {
        marks = try table.marks(after: cursor?.text ?? "", limit: limit)
      } else {
        // By row number, which the cursor holds.
        let base = RecordRow.base(of: id)
        var last = base + (cursor.flatMap { Int64($0.text) } ?? 0)
        try connection.each(
          "SELECT id, key FROM record WHERE id > ? AND id < ? ORDER BY id LIMIT ?", .integer(last),
          .integer(RecordRow.base(of: id + 1)), .integer(Int64(limit))
        ) {
          last = try $0.integer(0)
          marks.append(RecordMark(id: $0.text(1), pending: 0))
        }
        let next = marks.count == limit ? RecordCursor(text: String(last - base)) : nil
        return RecordMarks(marks: marks, next: next)
      }
      let next = marks.count == limit ? marks.last.map { RecordCursor(text: $0.id) } : nil
      return RecordMarks(marks: marks, next: next)
    }
  }

  func marks(of ids: [String]) throws -> [RecordMark?] {
    try read { connection, row in
      let table = SyncTable(connection: connection, collection: id)
      return try ids.map { key in
        if row.isSynchronized { return try table.mark(key) }
        return try find(key, connection, row) == nil ? nil : RecordMark(id: key, pending: 0)
      }
    }
  }

  func state(of key: String) throws -> RecordState {
    try read { connection, row in try state(of: key, connection, row) }
  }

  private func state(of key: String, _ connection: Connection, _ row: CollectionRow) throws -> RecordState {
    let table = SyncTable(connection: connection, collection: id)
    var state = try row.isSynchronized ? table.state(key) : nil
    if let record = try find(key, connection, row) {
      let content = try RecordFetch(connection, row).one(record) { $0.content }
      if state == nil { state = RecordState(id: key, pending: 0) }
      state?.local = content
    }
    return state ?? RecordState(id: key)
  }

  /// Returns the row of a record in a snapshot of the store.
  private func find(_ key: String, _ connection: Connection, _ row: CollectionRow) throws -> Int64? {
    let base = RecordRow.base(of: id)
    let view = try store.keys(of: id).view(
      of: connection, floor: base + row.indexedThrough, newest: base + row.next - 1)
    var key = key
    return try key.withUTF8 { try view.find(UnsafeRawBufferPointer($0)) }
  }

  func migrated(_ document: [UInt8], from version: Int64) throws -> [UInt8] {
    let steps = try read { connection, row in
      try (version..<row.version).map { version -> (Int, RecordMigration) in
        if migrations.count >= version { return (Int(version), migrations[Int(version) - 1]) }
        guard let step = try MigrationRun.step(to: version + 1, of: id, connection, callback: nil) else {
          throw SatchelError(
            .invalid, "\(name): there are no steps from version \(version) to \(version + 1)")
        }
        return (Int(version), step)
      }
    }
    return try naming(name) {
      guard case .object(var object) = try JSONValue(parsing: document) else {
        throw JSONError("the document is no object")
      }
      var kept: [KeptValue] = []
      for (version, step) in steps { try step.apply(to: &object, id: "", version: version, kept: &kept) }
      return try JSONValue.object(object).serialized()
    }
  }

  // MARK: Uploads in flight

  /// Changes the sync metadata of one record, in one transaction.
  private func ledger(
    _ key: String, _ body: (SyncTable, RecordState, RecordWork, WorkingCollection) throws -> Void
  )
    throws
  {
    // In a savepoint: the changes of the record and of its sync metadata are atomic.
    try store.transaction { _ in
      try write { work, collection in
        try work.flush()
        guard let row = try CollectionRow.read(id, work.connection) else { return }
        let state = try state(of: key, work.connection, row)
        try body(SyncTable(connection: work.connection, collection: id), state, work, collection)
      }
    }
  }

  private func busy(_ key: String) -> SatchelError {
    SatchelError(.busy, "records/\(name)/\(key): changed meanwhile")
  }

  func noteSending(_ key: String, sequence: Int64, envelope: [UInt8]) throws {
    try ledger(key) { table, state, _, _ in
      guard state.pending == sequence, state.sending == nil else { throw busy(key) }
      try table.setSending(key, sequence, envelope)
    }
  }

  func forgetSending(_ key: String, sequence: Int64) throws {
    try ledger(key) { table, state, _, _ in
      guard state.sending?.sequence == sequence else { throw busy(key) }
      try table.setSending(key, nil, nil)
    }
  }

  func settle(_ key: String, sequence: Int64, etag: ETag?) throws {
    try ledger(key) { table, state, _, _ in
      guard let sending = state.sending, sending.sequence == sequence else { throw busy(key) }
      try table.setBase(key, sending.envelope, etag)
      try table.dropOpenConflict(key)
      if state.pending == sequence { try table.setPending(key, nil) }
    }
  }

  // MARK: Downloads

  func take(
    _ key: String, stamp: RecordStamp, envelope: [UInt8], etag: ETag, taking: RecordTaking, isLost: Bool
  ) throws {
    try ledger(key) { table, state, work, collection in
      guard state.stamp == stamp else { throw busy(key) }
      if isLost { try table.noteLost(key, state, envelope, etag, time: work.now) }
      switch taking {
      case .replace(let content):
        try work.applyRemote(content, key, state.local, in: collection)
        try table.setPending(key, nil)
      case .merge(let content):
        try work.applyRemote(content, key, state.local, in: collection)
        collection.numbers.sequence += 1
        collection.numbers.isDirty = true
        try table.setPending(key, collection.numbers.sequence)
      case .keep: break
      case .agree: try table.setPending(key, nil)
      }
      try table.setBase(key, envelope, etag)
      try table.dropOpenConflict(key)
    }
  }

  func renew(_ key: String, stamp: RecordStamp) throws {
    try ledger(key) { table, state, work, collection in
      guard state.stamp == stamp else { throw busy(key) }
      if state.pending == nil {
        collection.numbers.sequence += 1
        collection.numbers.isDirty = true
        try table.setPending(key, collection.numbers.sequence)
      }
      try table.forgetObject(key)
    }
  }

  func ask(_ key: String, stamp: RecordStamp, envelope: [UInt8], etag: ETag) throws {
    try ledger(key) { table, state, work, _ in
      guard state.stamp == stamp else { throw busy(key) }
      try table.open(key, state, envelope, etag, time: work.now)
    }
  }

  func fail(_ key: String, error: SatchelError, attempts: Int, retryAt: Int64) throws {
    try ledger(key) { table, _, _, _ in try table.fail(key, error, attempts: attempts, retryAt: retryAt) }
  }

  func finish(isComplete: Bool) throws {
    try write { work, _ in
      try SyncTable(connection: work.connection, collection: id).finish(
        isComplete: isComplete, time: work.now)
    }
  }
}

extension Candidate {
  fileprivate var content: RecordContent {
    RecordContent(document: Array(body), revision: revision, created: created, modified: modified)
  }
}
