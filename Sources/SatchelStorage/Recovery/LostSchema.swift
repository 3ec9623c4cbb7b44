import SatchelCore

/// Identifies the tables of a store whose `sqlite_schema` is unreadable.
///
/// In a store of Satchel, B-trees begin on the pages from the third on, in the order in which they were
/// created (incremental vacuum preserves it). The order of the subjects is unknown: an order is accepted when
/// it has as many B-trees as the file, each of the right kind, with rows of the right length, and when no
/// other accepted order assigns rows to other tables.
///
/// It recovers every row of a store whose first page is destroyed, where otherwise none would be recovered, for
/// each of the 120 orders in which five subjects can be used first. Measured: PROFILES.md, "What own code
/// gains".
struct LostSchema {
  struct Layout {
    var tables: [StoredSchema.Table]
    var subjects: [SubjectSchema]
  }

  private let migrations: [Migration]
  private let subjects: [SubjectSchema]
  private let options: StoreOptions

  init(_ migrations: [Migration], _ subjects: [SubjectSchema], options: StoreOptions) {
    self.migrations = migrations
    self.subjects = subjects
    self.options = options
  }

  /// Identifies the tables.
  ///
  /// - Parameter shouldContinue: called before each B-tree is read; throws to cancel
  /// - Returns: nil when no order fits, or several that differ
  func tables(of copy: WorkingCopy, shouldContinue: () throws -> Void) throws -> Layout? {
    let file = try PageFile(copy.path)
    var shapes: [Int: Shape] = [:]
    for number in 3..<max(3, file.count + 1) {
      // 1: the root page of a B-tree.
      guard try file.pointer(to: number)?.kind == 1 else { continue }
      try shouldContinue()
      shapes[number] = try Shape(number, file)
    }
    var search = LayoutSearch(
      core: try made([]), subjects: try subjects.map { ($0, try made([$0])) }, shapes: shapes)
    var layouts = search.run()
    if layouts.isEmpty {
      search.allowsShortRows = true
      layouts = search.run()
    }
    // Those of derived tables are not recovered, and some are like others.
    let derived = Set((search.core + search.subjects.flatMap(\.made)).filter(\.isDerived).map(\.name))
    func filled(_ layout: Layout) -> [StoredSchema.Table] {
      layout.tables.filter { shapes[$0.root]?.isEmpty == false && !derived.contains($0.name) }
        .ordered { $0.root < $1.root }
    }
    guard let first = layouts.first, layouts.allSatisfy({ filled($0) == filled(first) }) else { return nil }
    return first
  }

  /// The layout of a B-tree: properties of the table that its pages reveal.
  struct Shape {
    var hasRowID: Bool?
    var isEmpty = true
    /// The numbers of values in its rows.
    var lengths: Set<Int> = []

    init(_ root: Int, _ file: PageFile) throws {
      guard let page = try file.page(root) else { return }
      hasRowID = page[0] == 5 || page[0] == 13 ? true : page[0] == 2 || page[0] == 10 ? false : nil
      guard let hasRowID else { return }
      isEmpty = (page[0] == 13 || page[0] == 10) && page.number(2, at: 3) == 0
      try BTreeReader(file).rows(root: root, hasRowID: hasRowID) { _, values in lengths.insert(values.count) }
    }

    /// - Parameter allowsShortRows: whether rows may have fewer values than the table has columns, as those do that were
    ///   written before a column was added
    func fits(_ candidate: Candidate, allowsShortRows: Bool) -> Bool {
      guard candidate.isTable else { return true }

      // A destroyed root page may have belonged to any table.
      return (hasRowID == nil || hasRowID == candidate.hasRowID)
        && lengths.allSatisfy { $0 == candidate.columns || allowsShortRows && $0 < candidate.columns }
    }
  }

  /// A table or index, which has a B-tree.
  struct Candidate {
    var name: String
    var isTable: Bool
    /// Whether it is a table of a full-text index or an R*Tree.
    var isDerived = false
    var hasRowID = false
    var columns = 0
  }

  /// Returns the tables and indexes of a new store that creates subjects in the given order, in the order of
  /// their B-trees.
  private func made(_ order: [SubjectSchema]) throws -> [Candidate] {
    let database = try Database.open(path: ":memory:", options: options, migrations: migrations)
    for subject in order { try database.prepare(subject.alone) }
    return try database.read { connection in
      var candidates: [Candidate] = []
      try connection.visit("SELECT type, name FROM sqlite_schema WHERE rootpage > 0 ORDER BY rootpage") {
        row in
        candidates.append(Candidate(name: row.text(1), isTable: row.text(0) == "table"))
      }
      for (index, candidate) in candidates.enumerated() where candidate.isTable {
        try connection.visit("PRAGMA main.table_list(\(RecoveredTable.quoted(candidate.name)))") {
          candidates[index].isDerived = $0.text(2) == "shadow"
          candidates[index].hasRowID = !$0.flag(4)
          candidates[index].columns = Int(try $0.integer(3))
        }
      }
      return candidates
    }
  }
}

/// Searches the orders of subjects whose B-trees fit the file. A subject that does not fit ends the search of
/// all orders that begin so.
private struct LayoutSearch {
  /// The B-trees of every store, and those of each subject, in the order of creation.
  let core: [LostSchema.Candidate]
  let subjects: [(schema: SubjectSchema, made: [LostSchema.Candidate])]
  let shapes: [Int: LostSchema.Shape]
  /// Otherwise too many orders would fit: a table of few columns is like any of more.
  var allowsShortRows = false

  private struct State {
    var order: [SubjectSchema] = []
    var tables: [StoredSchema.Table] = []
    var names: Set<String> = []
    /// The root page of the latest B-tree; the first one follows the header and the first pointer map page.
    var page = 2
  }

  func run() -> [LostSchema.Layout] {
    var layouts: [LostSchema.Layout] = []
    guard let start = assigningRoots(core, after: State()) else { return [] }
    var open = [start]
    while let state = open.popLast() {
      if state.names.count == shapes.count {
        layouts.append(LostSchema.Layout(tables: state.tables, subjects: state.order))
        continue
      }
      for (schema, made) in subjects where !state.order.contains(where: { $0.name == schema.name }) {
        guard var next = assigningRoots(made, after: state) else { continue }
        next.order.append(schema)
        open.append(next)
      }
    }
    return layouts
  }

  /// Assigns root pages to new B-trees; nil where a B-tree is missing, or is of another kind.
  private func assigningRoots(_ candidates: [LostSchema.Candidate], after state: State) -> State? {
    var state = state
    for candidate in candidates where state.names.insert(candidate.name).inserted {
      state.page += 1
      // Pointer map pages are in between, one for each 819 pages.
      if (state.page - 2) % (4096 / 5 + 1) == 0 { state.page += 1 }
      guard let shape = shapes[state.page], shape.fits(candidate, allowsShortRows: allowsShortRows) else {
        return nil
      }
      if candidate.isTable { state.tables.append(StoredSchema.Table(name: candidate.name, root: state.page)) }
    }
    return state
  }
}
