import SatchelJSON
import SatchelStorage
import Testing

/// Random documents and steps over few names, so that they often affect the same members.
private struct MigrationWorld {
  var state: UInt64

  mutating func number(_ bound: Int) -> Int {
    // splitmix64
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return Int((mixed ^ (mixed >> 31)) >> 1) % bound
  }

  mutating func name() -> String { ["a", "b", "c", "d/e"][number(4)] }

  mutating func value(levels: Int) -> JSONValue {
    switch number(levels > 0 ? 12 : 8) {
    case 0: return .null
    case 1: return .bool(number(2) == 0)
    case 2: return .int(Int64(number(30)) - 10)
    case 3: return .double(Double(number(40)) / 4)
    case 4: return .string(["true", "false", "x", ""][number(4)])
    case 5: return .string(String(number(50)))
    case 6: return .string(["1e3", "1.50", "007", "-0", "-0.0", "9223372036854775808"][number(6)])
    case 7: return .double(-0.0)
    case 8: return .array((0..<number(3)).map { _ in value(levels: levels - 1) })
    default: return .object(document(levels: levels - 1))
    }
  }

  mutating func document(levels: Int) -> JSONObject {
    JSONObject((0..<number(5)).map { _ in (name(), value(levels: levels)) })
  }

  mutating func path() -> JSONValue {
    .string((0...number(3)).map { _ in "/" + name().replacing("/", with: "~1") }.joined())
  }

  mutating func step() -> JSONValue {
    let kinds: [JSONValue] = ["string", "integer", "number", "boolean", "array"]
    switch number(6) {
    case 0:
      let (from, to) = (name(), name())
      return ["rename": ["from": .string("/x/" + from), "to": .string("/x/" + to)]]
    case 1: return ["move": ["from": path(), "to": path()]]
    case 2: return ["default": ["path": path(), "value": value(levels: 1)]]
    case 3: return ["remove": ["path": path()]]
    case 4: return ["convert": ["path": path(), "to": kinds[number(5)]]]
    default: return ["convert": ["path": path(), "to": kinds[number(5)], "from": kinds[number(5)]]]
    }
  }
}

@Suite("Migrations of random records")
struct MigrationPropertyTests {
  @Test(
    "forwards and back restore the document, or fail and change nothing",
    arguments: 1...8 as ClosedRange<UInt64>)
  func roundTrip(seed: UInt64) throws {
    var world = MigrationWorld(state: seed)
    var (changed, refused) = (0, 0)
    for _ in 0..<4_000 {
      let steps = (0...world.number(4)).map { _ in world.step() }
      guard let migration = try? RecordMigration(json: .array(steps)) else { continue }
      let before = world.document(levels: 3)
      var document = before
      var kept: [KeptValue] = []
      do {
        try migration.apply(to: &document, id: "r", version: 1, kept: &kept)
      } catch is JSONError {
        refused += 1
        #expect(document == before && kept.isEmpty)
        continue
      }
      if document != before { changed += 1 }
      let after = document
      let stored = try kept.map { try KeptValue(path: $0.path, bytes: $0.bytes()) }
      do {
        try migration.invert(&document, id: "r", version: 1, kept: stored)
      } catch {
        Issue.record("\(try JSONValue.array(steps).text): \(try JSONValue.object(after).text): \(error)")
        continue
      }
      let told = try JSONValue.array([.array(steps), .object(before), .object(after)]).text
      // Numbers keep their bytes, too.
      let isSame = try JSONValue.object(document).text.utf8.count == JSONValue.object(before).text.utf8.count
      #expect(document == before && isSame, "\(told)")
      #expect(Set(kept.map(\.path)).count == kept.count)
    }
    // Both must have occurred often, or the test proves nothing.
    #expect(changed > 300 && refused > 100, "\(changed) \(refused)")
  }
}
