import SatchelCore
import SatchelStorage
import SatchelSync

/// The access path of a query: how the records that may match are found.
struct QueryPlan {
  /// An index and a set of its keys.
  struct Access {
    var index: CollectionIndex
    var keys: KeyRanges
    /// The part of the filter that such keys do not prove.
    var rest: CompiledFilter
  }

  /// Some ids.
  struct IDs {
    var ids: Set<[UInt8]>
    /// The part of the filter that the ids do not prove.
    var rest: CompiledFilter
  }

  /// The references of a relation to some records.
  struct References {
    var relation: CollectionRelation
    /// The ids of the referenced records.
    var targets: Set<[UInt8]>
    /// The part of the filter that such references do not prove.
    var rest: CompiledFilter

    /// - Returns: nil for a test that references do not decide
    init?(_ test: CompiledTest, _ relation: CollectionRelation, rest: CompiledFilter) {
      guard relation.path.isPath(test.path) else { return nil }
      let operands: [Operand]
      switch test.test {
      case .contains(let operand) where relation.isMany: operands = [operand]
      case .equals(let operand) where !relation.isMany: operands = [operand]
      case .oneOf(let set) where !relation.isMany: operands = set.operands
      default: return nil
      }
      let ids = operands.compactMap { if case .string(let id) = $0.content { id } else { nil } }
      // A missing reference may be null; the elements of a list are ids.
      guard relation.isMany || ids.count == operands.count else { return nil }
      self.relation = relation
      self.rest = rest
      targets = Set(ids)
    }
  }

  enum AccessPath {
    /// All records, in insertion order.
    case scan
    /// By their ids.
    case ids(IDs)
    /// By the keys of an index that narrow the filter.
    case index(Access)
    /// By the references that narrow the filter.
    case references(References)
    /// By an index in the requested order.
    case ordered(Access)
  }

  var path: AccessPath

  /// - Parameter limited: whether only the first of the matching records are requested
  init(
    _ filter: CompiledFilter, order: [CompiledQuery.Order], limited: Bool, _ rules: CollectionRules,
    estimate: (Access) throws -> Int, estimateReferences: (References) throws -> Int
  ) throws {
    let (tests, isAll) = filter.required
    for test in tests {
      guard let ids = Self.ids(test) else { continue }
      var isFound = false
      let rest = filter.without { test in
        // The ids are those of the first such test.
        if isFound || Self.ids(test) == nil { return false }
        isFound = true
        return true
      }
      path = .ids(IDs(ids: ids, rest: rest))
      return
    }
    var best: Access?
    var bestEstimate: Int?
    for index in rules.indexes {
      guard let access = Self.access(index, tests, filter: filter) else { continue }
      guard let known = best else {
        best = access
        continue
      }
      if access.keys.rank > known.keys.rank { continue }
      if access.keys.rank < known.keys.rank || index.isUnique && access.keys.rank == 0 {
        (best, bestEstimate) = (access, nil)
        continue
      }
      let (left, right) = (try bestEstimate ?? estimate(known), try estimate(access))
      if right < left { (best, bestEstimate) = (access, right) } else { bestEstimate = left }
    }
    var references: (found: References, estimate: Int)?
    for relation in rules.relations {
      for test in tests {
        let rest = isAll && tests.count == 1 ? .all([]) : filter
        guard let found = References(test, relation, rest: rest) else { continue }
        let estimate = try estimateReferences(found)
        if references.map({ estimate < $0.estimate }) ?? true { references = (found, estimate) }
      }
    }
    if let references,
      try best.map({ try $0.keys.rank > 1 || references.estimate < bestEstimate ?? estimate($0) }) ?? true
    {
      path = .references(references.found)
      return
    }
    // After an equality test, sorting the matching records costs less than walking the index in order.
    if let first = order.first, best.map({ $0.keys.rank > 1 || $0.index.path.isPath(first.path) }) ?? limited,
      let index = rules.indexes.first(where: { $0.path.isPath(first.path) })
    {
      let access = Self.access(index, tests, filter: filter)
      if limited || access != nil {
        path = .ordered(access ?? Access(index: index, keys: .everything, rest: filter))
        return
      }
    }
    // A test for existence is not selective enough.
    path = best.map { $0.keys.rank < 3 || $0.rest.isEmpty ? .index($0) : .scan } ?? .scan
  }

  /// Returns the ids that a test allows; nil for a test that ids do not decide.
  private static func ids(_ test: CompiledTest) -> Set<[UInt8]>? {
    guard case .id = test.path else { return nil }
    let operands: [Operand]
    switch test.test {
    case .equals(let operand): operands = [operand]
    case .oneOf(let set): operands = set.operands
    default: return nil
    }
    return Set(operands.compactMap { if case .string(let id) = $0.content { id } else { nil } })
  }

  /// Returns the keys of an index that satisfy a filter; nil when they cannot decide any test.
  private static func access(
    _ index: CollectionIndex, _ tests: [CompiledTest], filter: CompiledFilter
  ) -> Access? {
    var keys: KeyRanges?
    for test in tests where index.path.isPath(test.path) {
      guard let ranges = KeyRanges(test.test) else { continue }
      if keys == nil { keys = ranges } else { keys?.narrow(ranges) }
    }
    guard let keys else { return nil }
    let rest = filter.without { index.path.isPath($0.path) && $0.test.isDecidedByKeys }
    return Access(index: index, keys: keys, rest: rest)
  }
}

extension DocumentPath {
  func isPath(_ other: FieldPath) -> Bool {
    if case .document(let path) = other { return path == self }
    return false
  }
}

/// Reads records by row, or all of a collection.
struct RecordFetch {
  private let connection: Connection
  private let row: CollectionState
  private let status: RecordStatusReader

  /// - Parameter store: required to read sensitive fields
  init(_ connection: Connection, _ row: CollectionState, store: RecordStore? = nil) {
    self.connection = connection
    self.row = row
    status = RecordStatusReader(connection, row, store: store)
  }

  /// Reads one record; returns nil when it does not exist, or has another id than `key`.
  func one<Result>(
    _ record: Int64, of key: UnsafeRawBufferPointer? = nil, _ body: (borrowing Candidate) throws -> Result
  ) throws -> Result? {
    let statement = try connection.prepared(
      "SELECT id, key, revision, created, modified, body, is_sealed FROM record WHERE id = ?")
    defer { statement.reset() }
    try statement.bind(.integer(record), at: 1)
    guard try statement.step() else { return nil }
    if let key, statement.bytes(1).order(against: key) != 0 { return nil }
    return try body(try Candidate(statement, status))
  }

  /// Visits all records in insertion order, until `visit` returns false.
  func all(_ visit: (borrowing Candidate) throws -> Bool) throws {
    let base = RecordRow.base(of: row.id)
    let statement = try connection.prepared(
      """
      SELECT id, key, revision, created, modified, body, is_sealed FROM record WHERE id > ? AND id < ? ORDER BY id
      """)
    defer { statement.reset() }
    try statement.bind(.integer(base), at: 1)
    try statement.bind(.integer(base + row.numbers.next), at: 2)
    while try statement.step() {
      guard try visit(try Candidate(statement, status)) else { return }
    }
  }
}

/// Reads the sync status of a collection's records, and opens their sensitive fields, in one snapshot.
final class RecordStatusReader {
  private let connection: Connection
  private let row: CollectionState
  /// Created when a status is first read.
  private lazy var reader = Result { try SyncStatusReader(connection, collection: row.name) }

  private let store: RecordStore?

  init(_ connection: Connection, _ row: CollectionState, store: RecordStore?) {
    self.connection = connection
    self.row = row
    self.store = store
  }

  /// Opens a document whose row is marked as sealed.
  func opened(_ document: UnsafeRawBufferPointer, _ key: UnsafeRawBufferPointer) throws -> [UInt8] {
    guard let store else { throw SatchelError(.internal, "\(row.name): its sensitive fields are not opened") }
    return try row.rules.opened(document, key, by: store.database.keyring.keys)
  }

  func status(_ key: UnsafeRawBufferPointer) throws -> SyncStatus {
    guard row.isBound else { return .local }
    // A record without an entry in the sync log is pending.
    return try reader.get().status(key) ?? .pending
  }
}
