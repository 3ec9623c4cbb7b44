import Foundation
import SatchelTesting

/// Generates valid and invalid contents: with objects with `_storage` in every kind of container, next to
/// other values, and with errors.
struct ContentGenerator {
  var random: SeededRandom
  private var budget = 0

  init(seed: UInt64) { random = SeededRandom(seed: seed) }

  mutating func content() -> String {
    budget = 60
    switch Int.random(in: 0..<10, using: &random) {
    case 0: return scalar()
    case 1: return pad("[]")
    case 2: return pad("{}")
    case 3: return object(levels: 4, tagged: true)
    case 4, 5: return nested()
    case 6, 7: return flat()
    default: return value(levels: 5)
    }
  }

  /// Returns a content whose values are entities, with titles as keys.
  private mutating func nested() -> String {
    var seen: Set<String> = []
    let keys = (0..<Int.random(in: 0...6, using: &random)).map { _ in key() }.filter {
      seen.insert($0).inserted
    }
    return list("{", keys.map { pad($0) + ":" + object(levels: 3, tagged: random.chance(85)) }, "}")
  }

  private mutating func flat() -> String {
    let items = (0..<Int.random(in: 0...6, using: &random)).map { _ in
      object(levels: 3, tagged: random.chance(85))
    }
    return list(
      "{", [pad("\"items\"") + ":" + list("[", items, "]"), pad("\"source\"") + ":" + scalar()], "}")
  }

  private mutating func value(levels: Int) -> String {
    budget -= 1
    guard levels > 0, budget > 0, !random.chance(30) else { return scalar() }
    switch Int.random(in: 0..<4, using: &random) {
    case 0:
      return list(
        "[", (0..<Int.random(in: 0...4, using: &random)).map { _ in value(levels: levels - 1) }, "]")
    default: return object(levels: levels, tagged: random.chance(50))
    }
  }

  private mutating func object(levels: Int, tagged: Bool) -> String {
    var seen: Set<String> = ["_storage"]
    var members: [String] = []
    for _ in 0..<Int.random(in: 0...4, using: &random) {
      let key = key()
      guard let name = RawJSON.meaning(key), seen.insert(name).inserted else { continue }
      members.append(pad(key) + ":" + value(levels: levels - 1))
    }
    if tagged {
      let key =
        random.chance(10) ? #""\u005fstorage""# : random.chance(10) ? #""_storag\u0065""# : "\"_storage\""
      let member = pad(key) + ":" + pad(tag())
      members.insert(member, at: Int.random(in: 0...members.count, using: &random))
    }
    return list("{", members, "}")
  }

  private mutating func tag() -> String {
    if random.chance(12) {
      return random.pick([
        "null", "[]", "{}", "\"_storage\"", "5", "true", #"{"entity_id":"x"}"#, #"{"scope":"global"}"#,
        #"{"entity_id":5,"scope":"global"}"#, #"{"entity_id":"","scope":"global"}"#,
        #"{"entity_id":"x","scope":"galaxy"}"#, #"{"entity_id":"x","scope":["global"]}"#,
        #"{"entity_id":"x","scope":"global","ttl_hours":-1}"#,
        #"{"entity_id":"x","scope":"global","ttl_hours":"1"}"#,
        #"{"_storage":{"entity_id":"x","scope":"global"}}"#,
        #"[{"_storage":{"entity_id":"x","scope":"global"}}]"#,
      ])
    }
    // Few ids, so that an id often occurs twice, in itself, or with several scopes.
    let id = random.pick([
      "a:1", "a:2", "a:3", "b:1", "b:2", "é:1", "e\u{301}:1", "no section", "🎒:\\n", "\\u0061:1",
    ])
    let scope = random.pick([
      "global", "country", "adminarea", "locality", "sublocality", "coordinate", "CouNtRy",
    ])
    let life = random.pick([
      "", "", #","ttl_hours":0"#, #","ttl_hours":0.001"#, #", "ttl_hours" : 1e300 "#, #","ttl_hours":null"#,
    ])
    return #"{"entity_id":"\#(id)","scope":"\#(scope)"\#(life)}"#
  }

  private mutating func key() -> String {
    random.pick([
      #""title""#, #""name""#, #""local_name""#, #""items""#, #""cards""#, "\"\"", #""a/b""#, #""m~n""#,
      #""日本""#, #""é""#, "\"e\u{301}\"", #""\u0041""#, #""with \"quotes\"""#, #""entity_id""#, #""_Storage""#,
      "\"k\(Int.random(in: 0..<9, using: &random))\"",
    ])
  }

  private mutating func scalar() -> String {
    pad(
      random.pick([
        "null", "true", "false", "0", "-0", "-0.0", "0.1", "1.50", "1E2", "1e-7", "9223372036854775807",
        "-9223372036854775808", "1.7976931348623157e308", "5e-324", "\"\"", #""\u00e9\ud83d\ude00""#, "\"🗺️\"",
        #""_storage""#, #""{\"_storage\":{}}""#, #""\/\b\f\n\r\t""#, "\"\u{7F}\u{2028}\"",
      ]))
  }

  private mutating func list(_ open: String, _ parts: [String], _ close: String) -> String {
    pad(open + space() + parts.joined(separator: ",") + close)
  }

  private mutating func space() -> String {
    random.chance(20) ? random.pick([" ", "\n", "\t", "\r\n", "  "]) : ""
  }
  private mutating func pad(_ text: String) -> String { space() + text + space() }
}
