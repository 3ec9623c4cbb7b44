import Foundation
import Satchel
import SatchelTesting
import Synchronization
import Testing

/// A source that answers from memory, and records what it was asked for.
final class RegionSource: ContentSource {
  struct Asked: Equatable {
    var location: String
    var section: String?
    var etag: String?
  }

  private struct State {
    var places: [String: String] = [:]
    var pictures: [String: [UInt8]] = [:]
    var etags: [String: String] = [:]
    var failing: Set<String> = []
    var asked: [Asked] = []
    var fetched: [String] = []
  }

  private let state = Mutex(State())
  /// Called before each answer.
  let before: @Sendable () throws -> Void

  init(before: @escaping @Sendable () throws -> Void = {}) { self.before = before }

  var asked: [Asked] { state.withLock { $0.asked } }
  var fetched: [String] { state.withLock { $0.fetched } }

  /// Sets the sections of a location, a JSON array.
  func set(_ location: Location, _ sections: String, etag: String? = nil) {
    let key = location.keys[0].text
    state.withLock {
      $0.places[key] = sections
      $0.etags[key] = etag
    }
  }

  func set(_ url: String, _ bytes: [UInt8]) { state.withLock { $0.pictures[url] = bytes } }
  func fail(_ key: String, _ fails: Bool = true) {
    state.withLock { if fails { $0.failing.insert(key) } else { $0.failing.remove(key) } }
  }
  func forget() { state.withLock { ($0.asked, $0.fetched) = ([], []) } }

  func content(_ request: ContentRequest) throws -> ContentAnswer {
    try before()
    let key = request.location.keys[0].text
    let (sections, etag, fails) = state.withLock {
      $0.asked.append(Asked(location: key, section: request.section, etag: request.etag))
      return ($0.places[key], $0.etags[key], $0.failing.contains(key))
    }
    if fails { throw SourceFailure("\(key): out of order") }
    guard let sections else { return .notFound() }
    if let etag, etag == request.etag { return .notModified(etag: etag) }
    guard let name = request.section else {
      return .content(Array(#"{"sections":\#(sections)}"#.utf8), etag: etag)
    }
    let all = try JSONValue(parsing: sections).arrayValue ?? []
    guard let section = all.first(where: { $0["section"]?.stringValue == name }) else { return .notFound() }
    return .content(try section.serialized(), etag: etag)
  }

  func asset(_ request: AssetRequest, into writer: AssetWriter) throws -> AssetResponse {
    try before()
    let bytes = state.withLock {
      $0.fetched.append(request.url)
      return $0.failing.contains(request.url) ? nil : $0.pictures[request.url]
    }
    guard let bytes else { throw SourceFailure("\(request.url): out of order") }
    try writer.append(bytes)
    return .fetched()
  }
}

/// The progress that a download has reported.
final class SeenProgress: Sendable {
  private let seen = Mutex<[RegionProgress]>([])

  var all: [RegionProgress] { seen.withLock { $0 } }

  /// - Returns: true, so that the download goes on
  func add(_ progress: RegionProgress) -> Bool {
    seen.withLock { $0.append(progress) }
    return true
  }
}

/// A city: places with sections of entities, each with a picture.
enum City {
  static func location(_ number: Int) throws -> Location {
    try Location(
      latitude: 31.2 + Double(number) * 0.01, longitude: 121.4, sublocality: "Part \(number)",
      locality: "Shanghai",
      adminArea: "Shanghai", countryCode: "CN")
  }

  static func url(_ number: Int, _ entity: Int) -> String { "https://pictures.test/\(number)/\(entity).jpg" }

  static func picture(_ number: Int, _ entity: Int, size: Int = 1000) -> [UInt8] {
    (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ number &* 7 &+ entity) }
      + Array("\(number)/\(entity)".utf8)
  }

  static func section(_ number: Int, entities: Int, name: String = "food", hours: String? = nil) -> String {
    let items = (0..<entities).map { entity in
      """
      {"local_name":"Dish \(number) \(entity)","image":{"_asset":{"url":"\(url(number, entity))"}},
      \(tag("\(name):\(number)_\(entity)", "sublocality", hours: hours))}
      """
    }
    return #"{"section":"\#(name)","content":{"items":[\#(items.joined(separator: ","))]}}"#
  }

  /// Fills a source with places, each with a section of entities with pictures.
  static func fill(_ source: RegionSource, places: Int, entities: Int, hours: String? = nil) throws {
    for number in 0..<places {
      source.set(
        try location(number), "[\(section(number, entities: entities, hours: hours))]", etag: "e\(number)")
      for entity in 0..<entities { source.set(url(number, entity), picture(number, entity)) }
    }
  }

  /// A source with places, as `fill` makes them.
  static func source(places: Int, entities: Int, hours: String? = nil) throws -> RegionSource {
    let source = RegionSource()
    try fill(source, places: places, entities: entities, hours: hours)
    return source
  }

  static func region(_ numbers: Range<Int>) throws -> RegionDefinition {
    RegionDefinition(try numbers.map { try location($0) })
  }
}

/// Returns the code of the error that `body` throws; nil when it throws none of Satchel's.
func code(_ body: () throws -> Void) -> SatchelError.Code? {
  do {
    try body()
    return nil
  } catch { return (error as? SatchelError)?.code }
}
