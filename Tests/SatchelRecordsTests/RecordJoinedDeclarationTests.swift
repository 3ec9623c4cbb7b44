import SatchelCore
import SatchelJSON
import SatchelStorage
import Testing

import SatchelDocuments
import SatchelRecords

@Suite("Declaring a collection again")
struct RecordJoinedDeclarationTests {
  private static let schema: JSONValue = ["type": "object", "required": ["name"]]

  /// A collection with an index, a relation and a schema, and a record of another collection to refer to.
  private func declared(_ shelf: RecordShelf) throws -> RecordCollection {
    try shelf.collection("teams").put("t1", [:])
    let users = try shelf.collection(
      "users", indexes: [RecordIndex("email", unique: true)], relations: ["team": RecordRelation("teams")],
      schema: Self.schema)
    try users.put("u1", ["name": "Ada", "email": "a@b.c", "team": "t1"])
    return users
  }

  /// Writes that the declaration of `declared` forbids.
  private static let forbidden: [JSONValue] = [
    ["name": "Bob", "email": "a@b.c"], ["name": "Bob", "team": "t9"], ["email": "x@y.z"],
  ]

  private func expectEnforced(
    _ users: RecordCollection, _ place: SourceLocation = #_sourceLocation
  ) throws {
    for document in Self.forbidden {
      let refusal = message(.constraint) { try users.put("u2", document) }
      #expect(refusal.hasPrefix("users/u2: "), sourceLocation: place)
    }
    #expect(try users.ids() == ["u1"], sourceLocation: place)
  }

  @Test("a declaration adds to what another part of the app declared, and drops nothing")
  func adds() throws {
    let shelf = try RecordShelf()
    let users = try declared(shelf)
    let other = try shelf.collection("users", indexes: [RecordIndex("name")])
    for handle in [users, other, try shelf.collection("users", relations: [:])] { try expectEnforced(handle) }
    #expect(try other.ids(["where": ["name": "Ada"]]) == ["u1"])
    let info = try #require(try shelf.store.collections().last)
    #expect(info.indexes.arrayValue?.count == 2 && info.relations.objectValue?.count == 1)
    try shelf.expectSound()
  }

  @Test("a declaration by another handle applies to an open handle from its next write on")
  func addsAcrossHandles() throws {
    let shelf = try RecordShelf(onDisk: true)
    try shelf.collection("teams").put("t1", [:])
    let users = try shelf.collection("users")
    try users.put("u1", ["name": "Ada", "email": "a@b.c", "team": "t1"])
    _ = try declared(shelf.another())
    try expectEnforced(users)
    // Within one transaction, too: another handle of the same store declares.
    func declareCode(_ codes: [Int64]) throws {
      try shelf.database.write { _ in
        _ = try shelf.collection("users", indexes: [RecordIndex("code", unique: true)])
        for (number, code) in codes.enumerated() {
          try users.put("u\(number + 2)", ["name": "Bob", "code": .int(code)])
        }
      }
    }
    #expect(throws: SatchelError.self) { try declareCode([1, 1]) }
    #expect(try users.count() == 1)
    try declareCode([1])
    #expect(try users.count() == 2)
    try shelf.expectSound()
  }

  @Test("a declaration that contradicts the store's is rejected, naming redeclare, and changes nothing")
  func conflicts() throws {
    let shelf = try RecordShelf()
    let users = try declared(shelf)
    let others: [CollectionDeclaration] = [
      CollectionDeclaration("users", indexes: [RecordIndex("email")]),
      CollectionDeclaration("users", indexes: [RecordIndex("new"), RecordIndex("/email")]),
      CollectionDeclaration("users", relations: ["team": RecordRelation("others")]),
      CollectionDeclaration("users", relations: ["team": RecordRelation("teams", onDelete: .cascade)]),
      CollectionDeclaration("users", relations: ["team": RecordRelation("teams", many: true)]),
      CollectionDeclaration("users", indexes: [RecordIndex("new")], schema: ["type": "object"]),
    ]
    for other in others {
      #expect(message(.invalid) { _ = try shelf.store.open(other) }.contains("redeclare=True"))
    }
    #expect(try shelf.store.collections().map(\.name) == ["teams", "users"])
    #expect(try shelf.store.collections().last?.indexes.arrayValue?.count == 1)
    try expectEnforced(users)
    // The same declaration with members in another order, and a path in its other form.
    _ = try shelf.collection(
      "users", indexes: [RecordIndex("/email", unique: true)],
      schema: ["required": ["name"], "type": "object"])
    try expectEnforced(users)
  }

  @Test("after redeclare a handle of the old declaration can read, but not write")
  func redeclare() throws {
    let shelf = try RecordShelf(onDisk: true)
    let other = try shelf.another()
    let old = [try declared(shelf), try declared(other), try shelf.collection("users")]
    let new = try shelf.collection("users", indexes: [RecordIndex("name")], redeclare: true)
    let allowed: JSONValue = ["name": "Ada"]
    for document in Self.forbidden + [allowed] {
      for handle in old {
        #expect(
          message(.conflict) { try handle.put("u2", document) }.contains("declare the collection again"))
      }
    }
    #expect(message(.conflict) { try old[1].delete("u1") }.contains("redeclare=True"))
    #expect(throws: SatchelError.self) { try old[0].putMany([("u2", allowed)]) }
    for handle in old { #expect(try handle.get("u1")?.revision == 2 && handle.count() == 1) }
    for document in Self.forbidden { try new.put("u2", document) }
    #expect(try new.count() == 2)
    // The same declaration again, or an extended one, does not affect other handles.
    _ = try other.collection("users", indexes: [RecordIndex("name")], redeclare: true)
    _ = try other.collection("users", indexes: [RecordIndex("name"), RecordIndex("n")], redeclare: true)
    try new.put("u2", [:])
    try other.collection("users").put("u3", [:])
    try shelf.expectSound()
  }

  @Test("a name alone with redeclare drops everything, whatever the version")
  func redeclareNothing() throws {
    let shelf = try RecordShelf()
    let steps: [RecordMigration] = [.steps([])]
    _ = try shelf.collection("users", indexes: [RecordIndex("n", unique: true)], version: 1)
    let users = try shelf.collection("users", schema: ["required": ["n"]], version: 2, migrations: steps)
    try users.put("u1", ["n": 1])
    #expect(throws: SatchelError.self) { try users.put("u2", ["n": 1]) }
    let open = try shelf.collection("users", redeclare: true)
    #expect(open.version == 2)
    try open.put("u2", ["n": 1])
    try open.put("u3", [:])
    #expect(try shelf.store.collections().first?.indexes == [])
    try shelf.expectSound()
  }

  @Test("a redeclaration that is rolled back affects only its own handle")
  func rolledBack() throws {
    let shelf = try RecordShelf()
    let users = try declared(shelf)
    struct Stop: Error {}
    var made: RecordCollection?
    #expect(throws: Stop.self) {
      try shelf.database.write { _ in
        made = try shelf.collection("users", redeclare: true)
        try made?.put("u2", [:])
        throw Stop()
      }
    }
    try expectEnforced(users)
    try users.put("u1", ["name": "Ada L."])
    let undone = try #require(made)
    #expect(throws: SatchelError.self) { try undone.put("u3", [:]) }
    _ = try shelf.collection("users", indexes: [], redeclare: true)
    #expect(throws: SatchelError.self) { try undone.put("u3", [:]) }
  }

  @Test("another version replaces what it declares; a newer schema does not apply to older documents")
  func versions() throws {
    let shelf = try RecordShelf()
    let rename: [RecordMigration] = try [.steps([.rename(from: JSONPath("name"), to: JSONPath("title"))])]
    let first = try shelf.collection(
      "rooms", indexes: [RecordIndex("n", unique: true), RecordIndex("name")], schema: ["required": ["name"]],
      version: 1)
    try first.put("r1", ["name": "A", "n": 1])
    // The schema that is kept forbids the result of the migration.
    #expect(
      message(.constraint) { _ = try shelf.collection("rooms", version: 2, migrations: rename) }.contains(
        "rooms/r1"))
    let second = try shelf.collection(
      "rooms", indexes: [RecordIndex("title", unique: true)], schema: ["required": ["title"]], version: 2,
      migrations: rename)
    #expect(throws: SatchelError.self) { try second.put("r2", ["title": "B", "n": 1]) }
    #expect(throws: SatchelError.self) { try second.put("r2", ["n": 2]) }
    let back = try shelf.collection("rooms", version: 1)
    #expect(try back.get("r1")?.document == ["name": "A", "n": 1])
    #expect(throws: SatchelError.self) { try back.put("r2", ["name": "A"]) }
    try back.put("r2", ["n": 2])
    try shelf.expectSound()
  }
}
