/// Tells the tables of a store whose list of them is destroyed.
///
/// In a store of ours the trees begin on the pages from the third on, in the order they were made (incremental vacuum
/// keeps it so). Which subject came first is not known: an order is believed when as many trees as it makes are there,
/// each of the kind it makes, with rows of the right length, and no other order fits that would put rows elsewhere.
struct LostSchema {
  struct Answer {
    var tables: [StoredSchema.Table]
    var subjects: [SubjectSchema]
  }

  private let migrations: [Migration]
  private let subjects: [SubjectSchema]
  private let options: StoreOptions

  init(_ migrations: [Migration], _ subjects: [SubjectSchema], _ options: StoreOptions) {
    self.migrations = migrations
    self.subjects = subjects
    self.options = options
  }

  /// - Parameter goOn: asked before each tree is read; throws to stop
  func tables(of copy: WorkingCopy, goOn: () throws -> Void) throws -> Answer? {
    let file = try PageFile(copy.path)
    var shapes: [Int: Shape] = [:]
    for number in 3..<max(3, file.count + 1) {
      // 1: a page where a tree begins.
      guard try file.pointer(to: number)?.kind == 1 else { continue }
      try goOn()
      shapes[number] = try Shape(number, file)
    }
    let answers = try LayoutSearch(
      core: made([]), subjects: subjects.map { ($0, try made([$0])) }, shapes: shapes
    ).run()
    func filled(_ answer: Answer) -> [StoredSchema.Table] {
      answer.tables.filter { shapes[$0.root]?.isEmpty == false }.sorted { $0.root < $1.root }
    }
    guard let first = answers.first, answers.allSatisfy({ filled($0) == filled(first) }) else { return nil }
    return first
  }

  /// What the page where a tree begins tells of it.
  struct Shape {
    var isKeyed: Bool?
    var isEmpty = true
    /// Values of the rows seen.
    var lengths: Set<Int> = []

    init(_ root: Int, _ file: PageFile) throws {
      guard let page = try file.page(root) else { return }
      isKeyed = page[0] == 5 || page[0] == 13 ? true : page[0] == 2 || page[0] == 10 ? false : nil
      guard let isKeyed else { return }
      isEmpty = (page[0] == 13 || page[0] == 10) && page.number(2, at: 3) == 0
      try TreeReader(file).rows(root: root, isKeyed: isKeyed) { _, values in lengths.insert(values.count) }
    }

    func fits(_ candidate: Candidate) -> Bool {
      guard candidate.isTable else { return true }

      // A destroyed page may have been any.
      return (isKeyed == nil || isKeyed == candidate.isKeyed)
        && lengths.allSatisfy { $0 <= candidate.columns }
    }
  }

  /// Something that has a tree.
  struct Candidate {
    var name: String
    var isTable: Bool
    var isKeyed = false
    var columns = 0
  }

  /// What a new store has that makes its subjects in an order: all that has a tree, in the order of the trees.
  private func made(_ order: [SubjectSchema]) throws -> [Candidate] {
    let database = try Database.open(path: ":memory:", options: options, migrations: migrations)
    for subject in order { try database.prepare(subject) }
    return try database.read { connection in
      var candidates: [Candidate] = []
      try connection.visit("SELECT type, name FROM sqlite_schema WHERE rootpage > 0 ORDER BY rootpage") {
        row in
        candidates.append(Candidate(name: row.text(1), isTable: row.text(0) == "table"))
      }
      for (index, candidate) in candidates.enumerated() where candidate.isTable {
        try connection.visit("PRAGMA main.table_list(\(RecoveredTable.quoted(candidate.name)))") {
          candidates[index].isKeyed = !$0.flag(4)
          candidates[index].columns = Int(try $0.integer(3))
        }
      }
      return candidates
    }
  }
}

/// Puts subjects behind one another as long as the trees fit: what does not fit is given up at once, and with it all
/// orders that begin so.
private struct LayoutSearch {
  /// What every store has, and what it has besides with each subject, in the order of the trees.
  let core: [LostSchema.Candidate]
  let subjects: [(schema: SubjectSchema, made: [LostSchema.Candidate])]
  let shapes: [Int: LostSchema.Shape]

  private struct State {
    var order: [SubjectSchema] = []
    var tables: [StoredSchema.Table] = []
    var names: Set<String> = []
    /// Of the tree that was placed last; the first one lies behind the header and the first page of pointers.
    var page = 2
  }

  func run() -> [LostSchema.Answer] {
    var answers: [LostSchema.Answer] = []
    guard let start = placing(core, after: State()) else { return [] }
    var open = [start]
    while let state = open.popLast() {
      if state.names.count == shapes.count {
        answers.append(LostSchema.Answer(tables: state.tables, subjects: state.order))
        continue
      }
      for (schema, made) in subjects where !state.order.contains(where: { $0.name == schema.name }) {
        guard var next = placing(made, after: state) else { continue }
        next.order.append(schema)
        open.append(next)
      }
    }
    return answers
  }

  /// Places what is not there yet; nil where a tree is missing, or is of another kind.
  private func placing(_ candidates: [LostSchema.Candidate], after state: State) -> State? {
    var state = state
    for candidate in candidates where state.names.insert(candidate.name).inserted {
      state.page += 1
      // Pages of pointers lie in between, one for each 819 pages.
      if (state.page - 2) % (4096 / 5 + 1) == 0 { state.page += 1 }
      guard let shape = shapes[state.page], shape.fits(candidate) else { return nil }
      if candidate.isTable { state.tables.append(StoredSchema.Table(name: candidate.name, root: state.page)) }
    }
    return state
  }
}
