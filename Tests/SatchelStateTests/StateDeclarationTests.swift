import Foundation
import SatchelCore
import SatchelJSON
import SatchelRemoteTesting
import SatchelStorage
import SatchelTesting
import Testing

@testable import SatchelState

@Suite("Declared state")
struct StateDeclarationTests {
  let fixture: StateFixture
  init() throws { fixture = try StateFixture() }

  private static func steps(_ text: String) throws -> RecordMigration {
    try RecordMigration(json: JSONValue(parsing: text))
  }

  /// Version 3: `colours` was renamed, and the reader's size became a member of its own object.
  private static let migrations = [
    try! steps(#"[{"rename": {"from": "/colours", "to": "/theme"}}]"#),
    try! steps(#"[{"move": {"from": "/size", "to": "/reader/size"}}, {"remove": {"path": "/old"}}]"#),
  ]

  private func backups() throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: fixture.directory.path)
      .filter { $0.hasPrefix("store.before-state-") }
  }

  @Test("a default is read until a value is set, and again when it is removed")
  func defaults() throws {
    let store = try fixture.open()
    try store.state.declare(StateDeclaration(defaults: ["theme": "light", "size": 12]))
    try store.state.declare(StateDeclaration(defaults: ["size": 12, "font": "serif"]))
    #expect(try store.state.get("theme") == "light" && store.state.get("size", as: Int.self) == 12)
    try store.state.set("theme", "dark")
    #expect(try store.state.get("theme") == "dark" && store.state.keys() == ["theme"])
    try store.state.remove("theme")
    #expect(try store.state.get("theme") == "light" && store.state.keys() == [])
    let error = #expect(throws: SatchelError.self) {
      try store.state.declare(StateDeclaration(defaults: ["margin": 1, "font": "sans"]))
    }
    #expect(error?.code == .invalid && error?.message == "state/font: another default is declared already")
    #expect(try store.state.get("margin") == nil)
    #expect(throws: SatchelError.self) { try store.state.declare(StateDeclaration(defaults: ["": 1])) }
    try store.database.close()
    #expect(try fixture.open().state.get("theme") == nil)
  }

  @Test("values are migrated once, in one transaction after a backup, and back by an older app")
  func versions() throws {
    let store = try fixture.open()
    let values: JSONObject = ["colours": "dark", "size": 12, "old": [1, 2.50], "kept": .null]
    for (key, value) in values { try store.state.set(key, value) }
    let declaration = StateDeclaration(version: 3, migrations: Self.migrations)
    try store.state.declare(declaration)
    #expect(try store.state.keys() == ["kept", "reader", "theme"])
    #expect(try store.state.get("theme") == "dark" && store.state.get("reader") == ["size": 12])
    #expect(try backups().count == 1)
    try store.state.declare(declaration)
    #expect(try backups().count == 1)

    try store.state.set("reader", ["size": 14])
    try store.state.declare(StateDeclaration(version: 1))
    #expect(try store.state.keys() == ["colours", "kept", "old", "size"])
    #expect(try store.state.get("size") == 14 && store.state.get("old") == [1, 2.50])
    try store.state.declare(declaration)
    #expect(try store.state.get("reader") == ["size": 14])
    #expect(try store.state.read([]) { reader, _ in reader?.version ?? 1 } == 3)
    try store.database.close()
  }

  @Test("a migration that fails changes nothing, and leaves no backup")
  func failing() throws {
    let store = try fixture.open()
    try store.state.set("theme", "dark")
    let failing = try Self.steps(#"[{"convert": {"path": "/theme", "to": "integer"}}]"#)
    for (declaration, message) in [
      (StateDeclaration(version: 2, migrations: [failing]), "state: at /theme: convert to integer"),
      (
        StateDeclaration(version: 3, migrations: [failing]),
        "state: no migration from version 2 to 3 is declared"
      ),
      (StateDeclaration(version: 0), "version: must be 1 or more"),
    ] {
      let error = #expect(throws: SatchelError.self) { try store.state.declare(declaration) }
      #expect(
        error?.code == .invalid && error?.message.hasPrefix(message) == true, "\(String(describing: error))")
    }
    #expect(try store.state.get("theme") == "dark" && backups() == [])
    #expect(try store.state.read([]) { reader, _ in reader?.version ?? 1 } == 1)
  }

  @Test("values that cannot be migrated back are refused, and read-only stores are not migrated")
  func refused() throws {
    let store = try fixture.open()
    try store.state.set("theme", "dark")
    let callback = RecordMigration.callback(
      RecordCallback { id, document, from, to in
        #expect(id == "state" && from == 1 && to == 2)
        var document = document
        document["size"] = 12
        return document
      })
    try store.state.declare(StateDeclaration(version: 2, migrations: [callback]))
    #expect(try store.state.get("size") == 12)
    #expect(throws: SatchelError.self) { try store.state.declare(StateDeclaration(version: 1)) }
    try store.database.close()
    let reader = try fixture.open { $0.isReadOnly = true }
    for (version, code) in [(1, SatchelError.Code.newer), (3, .readOnly)] {
      let error = #expect(throws: SatchelError.self) {
        try reader.state.declare(StateDeclaration(version: version))
      }
      #expect(error?.code == code)
    }
    try reader.state.declare(StateDeclaration(defaults: ["font": "serif"], version: 2))
    #expect(try reader.state.get("font") == "serif")
  }

  @Test("a store without values gets the declared version immediately")
  func empty() throws {
    let store = try fixture.open()
    try store.state.declare(StateDeclaration(version: Int(Int32.max), migrations: Self.migrations))
    #expect(try store.state.read([]) { reader, _ in reader?.version ?? 1 } == Int(Int32.max))
    #expect(try backups() == [])
    try store.state.set("theme", "dark")
    let error = #expect(throws: SatchelError.self) { try store.state.declare(StateDeclaration(version: 1)) }
    #expect(error?.code == .newer)
  }

  @Test("sensitive values are not migrated and not replaced")
  func sensitive() throws {
    let store = try fixture.open()
    try store.state.setKey(Array(repeating: 7, count: 32))
    try store.state.set("theme", "secret", sensitive: true)
    try store.state.set("colours", "dark")
    let error = #expect(throws: SatchelError.self) {
      try store.state.declare(StateDeclaration(version: 2, migrations: [Self.migrations[0]]))
    }
    #expect(error?.message == "state/theme: is sensitive, and a migration would replace it")
    #expect(try store.state.get("theme") == "secret" && store.state.get("colours") == "dark")
  }

  @Test("a renamed value stays synchronized")
  func synced() throws {
    let store = try fixture.open()
    try store.state.set("colours", "dark", synced: true)
    try store.state.declare(StateDeclaration(version: 2, migrations: [Self.migrations[0]]))
    #expect(try store.stored(.value, "theme")?.mark?.isSynced == true)
  }
}
