import SatchelCore
import SatchelStorage

/// A section that is visible from a location, and the context that serves it.
struct VisibleSection {
  var record: SectionRecord
  var context: ServingContext
  /// The delivered location whose place names the location has for inheriting the section; nil when it has its
  /// own.
  var nearby: NearbyLocation?
}

/// Finds the sections that are visible from a location, each in the context that serves it: the location's
/// own, otherwise the one that shares the most specific level with it and has the section, the latest of
/// several. A location without place names has those of the nearest delivered location.
struct SectionFinder {
  private let connection: Connection
  /// The places of the location, with those of the nearest one where it has no names.
  let chain: PlaceChain
  private let own: [ServingContext]
  private let inherits: Bool
  private let nearby: NearbyLocation?
  private let contexts: ContextTable
  private let sections: SectionTable

  /// The number of the latest contexts of a place that are examined for all sections at once. A section that
  /// none of them has is then looked up individually.
  private static let latestCount: Int64 = 64

  init(_ location: Location, _ inheritance: Inheritance, in connection: Connection) throws {
    self.connection = connection
    contexts = ContextTable(connection: connection)
    sections = SectionTable(connection: connection)
    var chain = try PlaceChain(location, in: connection)
    own = try contexts.own(location, chain)
    inherits = inheritance.inherits && !own.contains { $0.isExact && $0.isComplete }
    var nearby: NearbyLocation?
    if inherits, location.hasOnlyCoordinate, inheritance.nearby > 0, let latitude = location.latitude,
      let longitude = location.longitude,
      let nearest = try PositionIndex(connection: connection).nearestWithNames(
        to: latitude, longitude, within: inheritance.nearby)
    {
      for level in nearest.chain.levels where level != .coordinate { chain[level] = nearest.chain[level] }
      nearby = NearbyLocation(location: nearest.entry.location, distance: nearest.entry.distance)
    }
    self.chain = chain
    self.nearby = nearby
  }

  /// Whether content was delivered for the location itself.
  var isExact: Bool { own.contains(where: \.isExact) }

  /// The contexts that were delivered for the location itself.
  var ownRows: [Int64] { own.filter(\.isExact).map(\.row) }

  /// Returns all visible sections: the location's own in the order of first delivery, then inherited ones by
  /// level, in the order of first delivery.
  func all() throws -> [VisibleSection] { try find(nil) }

  func section(_ name: String) throws -> VisibleSection? { try find(name).first }

  private func find(_ name: String?) throws -> [VisibleSection] {
    var found: [VisibleSection] = []
    var known = IDList()
    func add(_ record: SectionRecord, in context: ServingContext, nearby: NearbyLocation? = nil) {
      if isVisible(record, in: context), known.insert(record.name) {
        found.append(VisibleSection(record: record, context: context, nearby: nearby))
      }
    }
    for context in own where context.isExact || inherits {
      if let name {
        if let record = try sections.record(name, of: context.row) { add(record, in: context) }
      } else {
        for record in try sections.records(of: context.row) { add(record, in: context) }
      }
    }
    guard inherits else { return found }
    for level in chain.levels where level != .coordinate {
      if name != nil, !found.isEmpty { return found }
      let inherited = try inherited(at: level, name.map { [$0] }, without: known)
      for section in inherited.ordered(by: { $0.record.id < $1.record.id }) {
        add(section.record, in: section.context, nearby: section.nearby)
      }
    }
    return found
  }

  /// Whether a section is visible: content of another place only when part of it covers the location.
  private func isVisible(_ record: SectionRecord, in context: ServingContext) -> Bool {
    context.coverage == .everything || record.entityCount(context.coverage) > 0
  }

  // MARK: One level

  /// A context that has a section, with its position in the order of updates.
  private struct Candidate {
    var revision: Int64
    var context: Int64

    func isLater(than other: Candidate?) -> Bool {
      other.map { ($0.revision, $0.context) < (revision, context) } ?? true
    }
  }

  /// Returns the sections that the location inherits at a level.
  ///
  /// - Parameters:
  ///   - wanted: the names of the sections; nil for all
  ///   - known: the sections that were found already
  private func inherited(at level: Level, _ wanted: [String]?, without known: IDList) throws
    -> [VisibleSection]
  {
    let place = chain[level]
    var latest: [EntityTarget: Candidate] = [:]
    func consider(_ name: String, _ candidate: Candidate) {
      let key = EntityTarget(entityID: name, scope: .global)
      if candidate.isLater(than: latest[key]) { latest[key] = candidate }
    }
    for (row, other, revision) in try contexts.own(at: place) where !own.contains(where: { $0.row == row }) {
      let coverage = Coverage(of: chain, by: other)
      let records =
        try wanted.map { try $0.compactMap { try sections.record($0, of: row) } }
        ?? sections.records(of: row)
      for record in records where !known.contains(record.name) && record.entityCount(coverage) > 0 {
        consider(record.name, Candidate(revision: revision, context: row))
      }
    }
    var names = try (wanted ?? contexts.sectionNames(at: place)).filter { !known.contains($0) }
    if !names.isEmpty {
      for (row, revision) in try contexts.latest(at: place, count: Self.latestCount) {
        try names.removeAll { name in
          guard try contexts.has(name, row, at: place) else { return false }
          consider(name, Candidate(revision: revision, context: row))
          return true
        }
        if names.isEmpty { break }
      }
    }
    for name in names {
      for row in try contexts.all(with: name, at: place) {
        guard let other = try contexts.chain(of: row), let revision = try contexts.revision(of: row, other)
        else { continue }
        consider(name, Candidate(revision: revision, context: row))
      }
    }
    return try latest.compactMap { name, candidate in
      guard let other = try contexts.chain(of: candidate.context),
        let record = try sections.record(name.entityID, of: candidate.context)
      else { return nil }
      let context = ServingContext(
        row: candidate.context, coverage: Coverage(of: chain, by: other), level: level, isExact: false,
        isComplete: false, places: chain)
      return VisibleSection(record: record, context: context, nearby: nearby)
    }
  }
}
