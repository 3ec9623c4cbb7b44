/// Tells the tables of a store whose list of them is destroyed.
///
/// In a store of ours the trees begin on the pages from the third on, in the order they were made (incremental vacuum
/// keeps it so). Which subject came first is not known: all orders are tried, and one is believed when as many
/// trees as it makes are there, each of the kind it makes, with rows of the right length, and no other order fits
/// that would put rows elsewhere.
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

  func tables(of copy: WorkingCopy) throws -> Answer? {
    let file = try PageFile(copy.path)
    var shapes: [Int: Shape] = [:]
    for number in 3..<max(3, file.count + 1) {
      // 1: a page where a tree begins.
      guard try file.pointer(to: number)?.kind == 1 else { continue }
      shapes[number] = try Shape(number, file)
    }
    var answers: [Answer] = []
    for order in Self.orders(subjects) {
      guard let candidate = try made(order), candidate.roots == Set(shapes.keys),
        candidate.tables.allSatisfy({ shapes[$0.table.root]?.fits($0) ?? false })
      else { continue }
      answers.append(Answer(tables: candidate.tables.map(\.table), subjects: order))
    }
    func filled(_ answer: Answer) -> [StoredSchema.Table] {
      answer.tables.filter { shapes[$0.root]?.isEmpty == false }.sorted { $0.root < $1.root }
    }
    guard let first = answers.first, answers.allSatisfy({ filled($0) == filled(first) }) else { return nil }
    return first
  }

  /// What the page where a tree begins tells of it.
  private struct Shape {
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
      // A destroyed page may have been any.
      (isKeyed == nil || isKeyed == candidate.isKeyed) && lengths.allSatisfy { $0 <= candidate.columns }
    }
  }

  private struct Candidate {
    var table: StoredSchema.Table
    var isKeyed: Bool
    var columns: Int
  }

  /// The tables of a new store that makes its subjects in an order, and the pages where all its trees begin.
  private func made(_ order: [SubjectSchema]) throws -> (tables: [Candidate], roots: Set<Int>)? {
    let database = try Database.open(path: ":memory:", options: options, migrations: migrations)
    for subject in order { try database.prepare(subject) }
    return try database.read { connection in
      var roots: Set<Int> = []
      var tables: [StoredSchema.Table] = []
      try connection.visit("SELECT type, name, rootpage FROM sqlite_schema WHERE rootpage > 0") { row in
        roots.insert(Int(try row.integer(2)))
        if row.text(0) == "table" {
          tables.append(StoredSchema.Table(name: row.text(1), root: Int(try row.integer(2))))
        }
      }
      let candidates = try tables.map { table in
        var isKeyed = true
        var columns = 0
        try connection.visit("PRAGMA main.table_list(\(RecoveredTable.quoted(table.name)))") {
          isKeyed = try $0.integer(4) == 0
          columns = Int(try $0.integer(3))
        }
        return Candidate(table: table, isKeyed: isKeyed, columns: columns)
      }
      return (candidates, roots)
    }
  }

  /// Every choice of some, in every order.
  private static func orders(_ subjects: [SubjectSchema]) -> [[SubjectSchema]] {
    var all: [[SubjectSchema]] = [[]]
    var latest = all
    while !latest.isEmpty {
      latest = latest.flatMap { order in
        subjects.filter { subject in !order.contains { $0.name == subject.name } }.map { order + [$0] }
      }
      all += latest
    }
    return all
  }
}
