import SatchelCore
import SatchelJSON
import SatchelStorage
import SatchelTesting
import Testing

@testable import SatchelDocuments

@Suite("Types of paths, and indexes of more than a path")
struct TypedPathTests {
  private let shelf: RecordShelf

  init() throws { shelf = try RecordShelf(onDisk: true) }

  private func code(_ body: () throws -> Void) -> SatchelError? {
    do {
      try body()
    } catch let error as SatchelError {
      return error
    } catch {}
    return nil
  }

  @Test("One instant in several forms is one value: in a condition, an order, a group and a unique index")
  func times() throws {
    let events = try shelf.collection(
      "events", indexes: [RecordIndex("at", unique: true, type: .time)], types: ["end": .time])
    try events.put("a", ["at": "2027-03-05T10:30:00+01:00"])
    try events.put("b", ["at": "2027-03-05"])
    #expect(try events.ids(RecordQuery(.field("at", .equals("20270305T0930Z")))) == ["a"])
    #expect(try events.ids(RecordQuery(order: [.init("at")])) == ["b", "a"])
    #expect(try events.ids(RecordQuery(.field("at", .less("2027-03-05T01:00+02:00")))) == [])
    let error = code { try events.put("c", ["at": "2027-03-05T09:30Z"]) }
    #expect(error?.code == .constraint)
    #expect(error?.message.contains("events/a") == true)
    #expect(
      code { _ = try events.ids(RecordQuery(.field("at", .less("tomorrow")))) }?.message
        == "\"at\" is declared as time: \"tomorrow\" is not")
  }

  @Test("Decimal texts are compared by their value, and their sum is exact")
  func decimals() throws {
    let prices = try shelf.collection("prices", types: ["net": .decimal])
    for (id, net) in [("a", "9.10"), ("b", "10.00"), ("c", "0.1"), ("d", "0.20")] {
      try prices.put(id, ["net": .string(net)])
    }
    try prices.put("e", ["net": 10])
    #expect(try prices.ids(RecordQuery(order: [.init("net")])) == ["c", "d", "a", "b", "e"])
    #expect(try prices.ids(RecordQuery(.field("net", .equals("1e1")))) == ["b", "e"])
    let all = try prices.aggregate([RecordAggregate(.sum, "net"), RecordAggregate(.max, "net")])
    #expect(all.first?.values == ["29.4", "10.00"])
    let few = try prices.aggregate(
      [RecordAggregate(.sum, "net")], where: .field("net", .less("1")))
    #expect(few.first?.values == ["0.3"])
  }

  @Test("The year, the month and the day of a time are those in UTC, whatever its form is")
  func parts() throws {
    let sales = try shelf.collection("sales", indexes: [RecordIndex("month(at)")])
    for (id, at) in [
      ("a", "2027-03-01T00:30:00+01:00"), ("b", "20270301"), ("c", "2027-060T12"), ("d", "soon"),
    ] { try sales.put(id, ["at": .string(at), "n": 1]) }
    let months = try sales.aggregate([RecordAggregate(.sum, "n")], groupBy: ["month(at)"])
    #expect(months.map(\.key) == [[.null], ["2027-02"], ["2027-03"]])
    #expect(months.map(\.count) == [1, 1, 2])
    #expect(try sales.ids(RecordQuery(.field("day(at)", .equals("2027-02-28")))) == ["a"])
    #expect(try sales.count(.field("year(at)", .equals("2027"))) == 3)
    #expect(try sales.explain(RecordQuery(.field("month(at)", .equals("2027-03")))).access == "index")
    try shelf.expectSound()
  }

  @Test(
    "Texts without case and accents are equal, begin and contain each other; Unicode's order is that of people"
  )
  func texts() throws {
    let recipes = try shelf.collection(
      "recipes",
      indexes: [RecordIndex("title", unique: true, type: .text(fold: [.case, .accent], order: .unicode))])
    for title in ["Zabaione", "apfelmus", "älplermagronen", "Crème brûlée"] {
      try recipes.put(title, ["title": .string(title)])
    }
    #expect(
      try recipes.ids(RecordQuery(order: [.init("title")]))
        == ["älplermagronen", "apfelmus", "Crème brûlée", "Zabaione"])
    for test in [RecordTest.equals("creme brulee"), .prefix("CRÈME"), .contains("BRU")] {
      #expect(try recipes.ids(RecordQuery(.field("title", test))) == ["Crème brûlée"])
    }
    #expect(code { try recipes.put("x", ["title": "ZABAIONE"]) }?.code == .constraint)
  }

  @Test(
    "A type is added to records that are there, replaced by redeclare only, and the same for every handle")
  func declared() throws {
    let plain = try shelf.collection("events", indexes: [RecordIndex("at")])
    try plain.put("a", ["at": "2027-03-05T10:30:00+01:00"])
    let query = RecordQuery(.field("at", .equals("2027-03-05T09:30:00Z")))
    #expect(try plain.ids(query) == [])
    _ = try shelf.collection("events", types: ["at": .time])
    #expect(try plain.ids(query) == ["a"])
    #expect(try plain.explain(query).access == "index")
    try shelf.expectSound()
    let error = code { _ = try shelf.collection("events", types: ["at": .text(fold: [.case])]) }
    #expect(error?.code == .invalid)
    #expect(error?.message.contains("redeclare") == true)
    let again = try shelf.collection("events", indexes: [RecordIndex("at")], redeclare: true)
    #expect(try again.ids(query) == [])
    try shelf.expectSound()
    let many = (0..<9).map { "p\($0)" }
    for (types, indexes): ([String: RecordType], [RecordIndex]) in [
      ([:], [RecordIndex(paths: many)]), ([:], [RecordIndex(paths: [])]), ([:], [RecordIndex("-due")]),
      (["@id": .time], []),
      (["a": .time, "/a": .time], []),
      (["a": .time], [RecordIndex("a", type: .decimal)]),
    ] {
      #expect(code { _ = try shelf.collection("wrong", indexes: indexes, types: types) }?.code == .invalid)
    }
  }

  @Test("Records of the same values of several paths are refused, unless one is missing")
  func compoundUnique() throws {
    let pages = try shelf.collection("pages", indexes: [RecordIndex(paths: ["site", "slug"], unique: true)])
    let long = String(repeating: "x", count: 2000)
    try pages.put("a", ["site": 1, "slug": "home"])
    try pages.put("b", ["site": 2, "slug": "home"])
    try pages.put("c", ["site": 1])
    try pages.put("d", ["site": 1])
    try pages.put("e", ["site": 1, "slug": .string(long + "1")])
    try pages.put("f", ["site": 1, "slug": .string(long + "2")])
    #expect(code { try pages.put("g", ["site": 1, "slug": "home"]) }?.message.contains("pages/a") == true)
    #expect(
      code { try pages.put("g", ["site": 1, "slug": .string(long + "2")]) }?.message.contains("pages/f")
        == true)
    let other = try shelf.collection("other")
    try other.put("a", ["site": 1, "slug": "home"])
    try other.put("b", ["site": 1, "slug": "home"])
    #expect(
      code {
        _ = try shelf.collection("other", indexes: [RecordIndex(paths: ["site", "slug"], unique: true)])
      }?.code
        == .constraint)
    try shelf.expectSound()
  }

  @Test("A unique index of some records leaves the others alone")
  func partialUnique() throws {
    let users = try shelf.collection(
      "users", indexes: [RecordIndex("mail", unique: true, where: .field("gone", .notEquals(true)))])
    try users.put("a", ["mail": "x@y"])
    try users.put("b", ["mail": "x@y", "gone": true])
    #expect(code { try users.put("c", ["mail": "x@y"]) }?.code == .constraint)
    try users.put("a", ["mail": "x@y", "gone": true])
    try users.put("c", ["mail": "x@y"])
    #expect(code { try users.put("b", ["mail": "x@y"]) }?.code == .constraint)
    try shelf.expectSound()
  }

  @Test("Each kind of index is used where it can be")
  func plans() throws {
    let tasks = try shelf.collection(
      "tasks",
      indexes: [
        RecordIndex(paths: ["state", "-due"]), RecordIndex("tags[*]"), RecordIndex("lower(title)"),
        RecordIndex("rank", where: .field("done", .equals(false))),
      ])
    for number in 0..<200 {
      try tasks.put(
        "t\(number)",
        [
          "state": .string(["open", "late", "closed"][number % 3]), "due": .int(Int64(number)),
          "tags": .array([.string("a\(number % 50)"), "all"]), "title": .string("Title \(number)"),
          "rank": .int(Int64(number)), "done": .bool(number % 2 == 0),
        ])
    }
    func plan(_ query: RecordQuery) throws -> String { try tasks.explain(query).text }
    var newest = RecordQuery(
      .field("state", .equals("open")), order: [.init("due", descending: true)], limit: 3)
    #expect(
      try plan(newest) == "finds 67 records by the index of \"state, -due\"; the index has them in order")
    #expect(try tasks.ids(newest) == ["t198", "t195", "t192"])
    newest.filter = .all([.field("state", .equals("late")), .field("due", .less(100))])
    #expect(try tasks.ids(newest) == ["t97", "t94", "t91"])
    #expect(try tasks.explain(newest).tests == [])
    #expect(
      try plan(RecordQuery(.field("tags[*]", .equals("a7")))) == "finds 4 records by the index of \"tags[*]\""
    )
    #expect(try tasks.count(.field("tags[*]", .prefix("a"))) == 200)
    #expect(
      try plan(RecordQuery(.field("lower(title)", .equals("title 7"))))
        == "finds 1 records by the index of \"lower(title)\"")
    let first = RecordQuery(
      .all([.field("done", .equals(false)), .field("rank", .greater(190))]), order: [.init("rank")], limit: 2)
    #expect(try plan(first) == "finds 5 records by the index of \"rank\"; the index has them in order")
    #expect(try tasks.explain(RecordQuery(.field("rank", .greater(190)))).access == "scan")
    #expect(
      code { _ = try tasks.ids(RecordQuery(order: [.init("tags[*]")])) }?.message.contains("first(...)")
        == true)
  }

  @Test("A migration takes the paths of types, conditions, elements and computed values along")
  func migration() throws {
    let one = try shelf.collection(
      "orders",
      indexes: [
        RecordIndex(paths: ["who", "-at"]), RecordIndex("lines[*].sku"), RecordIndex("lower(who)"),
        RecordIndex("at", where: .field("who", .exists(true))),
      ], types: ["at": .time], version: 1)
    try one.put("a", ["who": "Ann", "at": "2027-03-05T10:30+01:00", "lines": [["sku": "s1"]]])
    let two = try shelf.collection(
      "orders", version: 2,
      migrations: [
        .steps([
          .rename(from: JSONPath("who"), to: JSONPath("customer")),
          .rename(from: JSONPath("at"), to: JSONPath("ordered")),
          .rename(from: JSONPath("lines"), to: JSONPath("parts")),
        ])
      ])
    #expect(try two.ids(RecordQuery(.field("ordered", .equals("20270305T0930")))) == ["a"])
    for filter in [
      RecordFilter.field("lower(customer)", .equals("ann")), .field("parts[*].sku", .equals("s1")),
      .all([.field("customer", .equals("Ann")), .field("ordered", .greater("2027-03-01"))]),
    ] {
      #expect(try two.ids(RecordQuery(filter)) == ["a"])
      #expect(try two.explain(RecordQuery(filter)).access == "index")
    }
    try shelf.expectSound()
  }

  @Test(
    "An index whose keys were made with other tables of Unicode is built again when the collection is opened")
  func tables() throws {
    let types: [String: RecordType] = ["title": .text(order: .unicode)]
    let titles = try shelf.collection("titles", indexes: [RecordIndex("title")], types: types)
    try titles.put("a", ["title": "Äpfel"])
    try shelf.database.write {
      try $0.connection.execute(
        """
        UPDATE record_index SET definition = replace(definition, '"table":"', '"table":"0/');
        UPDATE record_value SET value = x'0701';
        UPDATE record_collection SET shape = shape + 1;
        """)
    }
    let again = try shelf.another().collection("titles", indexes: [RecordIndex("title")], types: types)
    #expect(try again.ids(RecordQuery(.field("title", .equals("A\u{308}pfel")))) == ["a"])
    #expect(try again.explain(RecordQuery(.field("title", .equals("x")))).access == "index")
    try shelf.expectSound()
  }

  @Test("A step of a migration that finds no value is reported, and so is a wrong number of migrations")
  func wrongMigrations() throws {
    let one = try shelf.collection("notes", version: 1)
    try one.put("a", ["title": "A"])
    let steps = try RecordMigration.steps([
      .rename(from: JSONPath("tilte"), to: JSONPath("name")), .remove(path: JSONPath("title")),
    ])
    let two = try shelf.collection("notes", version: 2, migrations: [steps])
    #expect(try two.warnings == ["migration to version 2: step 1: no record has a value at \"/tilte\""])
    let error = code { _ = try shelf.collection("new", version: 3, migrations: [steps]) }
    #expect(error?.message.contains("version 3 needs 2 migrations") == true)
    #expect(try shelf.collection("empty", version: 2, migrations: [steps]).warnings == [])
  }
}
