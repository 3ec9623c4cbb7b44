import SatchelCore
import SatchelJSON
import SatchelStorage

/// A record that a search found.
public struct RecordSearchHit: Equatable, Sendable {
  public var record: Record
  /// A higher score is better; comparable within one search.
  public var score: Double
  /// The declared path of the text that the excerpt is of.
  public var path: String
  /// A part of the text around a word that was found.
  public var excerpt: String
  /// The parts of the excerpt that match.
  public var highlights: [Range<String.Index>]
}

/// A record with a position near another one.
public struct NearbyRecord: Equatable, Sendable {
  public var record: Record
  /// In metres.
  public var distance: Double
}

/// A search of the texts of a collection.
struct RecordSearch {
  var text: String
  /// Declared paths; nil for all.
  var paths: [String]?
  var filter: RecordFilter?
  var limit = RecordCollection.defaultSearchLimit
  var offset = 0

  init(_ text: String) { self.text = text }

  /// Reads the JSON form of the public interfaces: `{"text", "paths", "where", "limit", "offset"}`.
  ///
  /// - Throws: `SatchelError` `.invalid` with the JSON Pointer
  init(json: JSONValue) throws {
    self.init("")
    let members = try HitQuery.members(json, ["text"])
    try naming("query") {
      for (key, value) in members {
        switch (key, value) {
        case ("text", .string(let text)): self.text = text
        case ("text", _): throw JSONError("must be a string", pointer: "/text")
        case ("paths", _): paths = try value.paths(at: "/paths")
        case ("where", _): filter = try RecordFilter(value, at: "/where")
        case ("limit", _): limit = try HitQuery.count(value, key)
        case ("offset", _): offset = try HitQuery.count(value, key)
        default: throw HitQuery.unknown(key, "text, paths, where, limit and offset")
        }
      }
    }
  }
}

/// A search of the positions of a collection.
struct NearSearch {
  var latitude = 0.0
  var longitude = 0.0
  /// In metres.
  var distance = 0.0
  /// A declared path; nil for the only one.
  var path: String?
  var filter: RecordFilter?
  var limit: Int?

  init() {}

  /// Reads the JSON form of the public interfaces: `{"latitude", "longitude", "within", "path", "where", "limit"}`.
  ///
  /// - Throws: `SatchelError` `.invalid` with the JSON Pointer
  init(json: JSONValue) throws {
    let members = try HitQuery.members(json, ["latitude", "longitude", "within"])
    try naming("query") {
      for (key, value) in members {
        switch (key, value) {
        case ("latitude", _): latitude = try HitQuery.number(value, key)
        case ("longitude", _): longitude = try HitQuery.number(value, key)
        case ("within", _): distance = try HitQuery.number(value, key)
        case ("path", .string(let text)): path = text
        case ("path", _): throw JSONError("must be a path", pointer: "/path")
        case ("where", _): filter = try RecordFilter(value, at: "/where")
        case ("limit", _): limit = try HitQuery.count(value, key)
        default: throw HitQuery.unknown(key, "latitude, longitude, within, path, where and limit")
        }
      }
    }
  }
}

/// Reads the members that both kinds of queries have.
private enum HitQuery {
  /// Returns the members that are not null.
  static func members(_ json: JSONValue, _ required: [String]) throws -> JSONObject {
    try naming("query") {
      guard case .object(let members) = json else { throw JSONError("must be an object", pointer: "") }
      for name in required where members[name]?.isNull ?? true {
        throw JSONError("is required", pointer: "/" + name)
      }
      return JSONObject(members.filter { !$0.value.isNull }.map { ($0.key, $0.value) })
    }
  }

  static func number(_ value: JSONValue, _ key: String) throws -> Double {
    switch value {
    case .int(let number): return Double(number)
    case .double(let number): return number
    default: throw JSONError("must be a number", pointer: "/" + key)
    }
  }

  static func count(_ value: JSONValue, _ key: String) throws -> Int {
    guard case .int(let count) = value, count >= 0 else {
      throw JSONError("must be a number, 0 or more", pointer: "/" + key)
    }
    return Int(count)
  }

  static func unknown(_ key: String, _ members: String) -> JSONError {
    JSONError(
      "unknown member of a query; the members are \(members)", pointer: "/" + JSONPointer.escaped(key))
  }
}

extension RecordTextIndex.Match {
  func hit(_ candidate: borrowing Candidate) throws -> RecordSearchHit {
    RecordSearchHit(
      record: try candidate.record(withDocument: true), score: score, path: path, excerpt: excerpt,
      highlights: ranges)
  }

  /// The highlights as ranges of the excerpt.
  private var ranges: [Range<String.Index>] {
    highlights.map {
      excerpt.utf8.index(
        excerpt.startIndex, offsetBy: $0.lowerBound)..<excerpt.utf8.index(
          excerpt.startIndex, offsetBy: $0.upperBound)
    }
  }

  /// Appends the members of the JSON form of the public interfaces, after others.
  func write(into bytes: inout [UInt8]) throws {
    bytes.append(contentsOf: #","score":"#.utf8)
    bytes.append(contentsOf: try JSONValue.double(score).serialized())
    bytes.append(contentsOf: #","path":"#.utf8)
    JSONValue.write(path, into: &bytes)
    bytes.append(contentsOf: #","excerpt":"#.utf8)
    JSONValue.write(excerpt, into: &bytes)
    bytes.append(contentsOf: #","highlights":["#.utf8)
    for (number, range) in highlights.enumerated() {
      if number > 0 { bytes.append(UInt8(ascii: ",")) }
      bytes.append(contentsOf: "[\(range.lowerBound),\(range.upperBound)]".utf8)
    }
    bytes.append(UInt8(ascii: "]"))
  }
}
