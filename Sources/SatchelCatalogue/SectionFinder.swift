import SatchelCore
import SatchelStorage

/// A section that is visible from a location, and the context that serves it.
struct VisibleSection {
  var record: SectionRecord
  var context: ServingContext
  /// The levels by which the location sees it and which were resolved by distance; empty where its own names do.
  var resolved: [ResolvedLevel] = []
}

/// Finds the sections that are visible from a location, each in the context that serves it: the location's
/// own, otherwise the one that shares the most specific level with it and has the section, the latest of
/// several. Global content is found last, from everywhere.
final class SectionFinder {
  private let connection: Connection
  private let location: Location
  private let inheritance: Inheritance
  private let chain: PlaceChain
  private let own: [ServingContext]
  private let inherits: Bool
  private let contexts: ContextTable
  private let sections: SectionTable
  private var known: ResolvedPlaces?

  /// The number of the latest contexts of a place that are examined for all sections at once. A section that
  /// none of them has is then looked up individually.
  private static let latestCount: Int64 = 64

  init(_ location: Location, _ inheritance: Inheritance, in connection: Connection) throws {
    (self.connection, self.location, self.inheritance) = (connection, location, inheritance)
    contexts = ContextTable(connection: connection)
    sections = SectionTable(connection: connection)
    chain = try PlaceChain(location, in: connection)
    own = try contexts.own(location, chain, joinsNames: inheritance.inherits && inheritance.nearby > 0)
    inherits = inheritance.inherits && !own.contains { $0.isExact && $0.isComplete }
  }

  /// Whether content was delivered for the location itself.
  var isExact: Bool { own.contains(where: \.isExact) }

  /// The contexts that were delivered for the location itself.
  var ownRows: [Int64] { own.filter(\.isExact).map(\.row) }

  /// Returns the places by which the location inherits, resolved once.
  func places() throws -> ResolvedPlaces {
    if let known { return known }
    var places = ResolvedPlaces(own: chain)
    if inheritance.nearby > 0 {
      for key in location.keys {
        for other in key.withoutBroaderNames {
          places.add(try PlaceChain.find(other, in: connection), at: key.level)
        }
      }
      try addNearest(to: &places)
    }
    known = places
    return places
  }

  private func addNearest(to places: inout ResolvedPlaces) throws {
    guard let latitude = location.latitude, let longitude = location.longitude else { return }
    let limits = PositionIndex.Limits(narrow: inheritance.nearby, wide: inheritance.nearby * 10)
    // A country that the location states is never left, also when nothing was delivered for it: then its row is 0.
    let country = location.key(.country) == nil ? nil : chain[.country]
    let nearest = try PositionIndex(connection: connection).nearest(
      to: latitude, longitude, within: limits, in: country)
    for level in Level.mostSpecificFirst {
      if let neighbour = nearest[level.rawValue] { places.add(neighbour, at: level) }
    }
  }

  /// Returns all visible sections: the location's own in the order of first delivery, then inherited ones by
  /// level, in the order of first delivery.
  func all() throws -> [VisibleSection] { try find(nil) }

  func section(_ name: String) throws -> VisibleSection? { try find(name).first }

  private func find(_ name: String?) throws -> [VisibleSection] {
    var found: [VisibleSection] = []
    var known = IDList()
    func add(_ section: VisibleSection) {
      if isVisible(section.record, in: section.context), known.insert(section.record.name) {
        found.append(section)
      }
    }
    for context in own where context.isExact || inherits {
      if let name {
        if let record = try sections.record(name, of: context.row) {
          add(VisibleSection(record: record, context: context))
        }
      } else {
        for record in try sections.records(of: context.row) {
          add(VisibleSection(record: record, context: context))
        }
      }
    }
    guard inherits else { return found }
    func inherit(at place: Int64, _ level: Scope) throws {
      let inherited = try inherited(at: place, level, name.map { [$0] }, without: known)
      for section in inherited.ordered(by: { $0.record.id < $1.record.id }) { add(section) }
    }
    for level in Level.mostSpecificFirst {
      if name != nil, !found.isEmpty { return found }
      // The contexts at the coordinate itself are its own.
      for place in try places()[level] where level != .coordinate || place != chain[.coordinate] {
        if name == nil || found.isEmpty { try inherit(at: place, Scope(level)) }
      }
    }
    if name == nil || found.isEmpty { try inherit(at: 0, .global) }
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

  /// Returns the sections that the location inherits in a place.
  ///
  /// - Parameters:
  ///   - place: 0 for the whole world
  ///   - wanted: the names of the sections; nil for all
  ///   - known: the sections that were found already
  private func inherited(
    at place: Int64, _ level: Scope, _ wanted: [String]?, without known: IDList
  ) throws -> [VisibleSection] {
    let places = try places()
    var latest: [EntityTarget: Candidate] = [:]
    func consider(_ name: String, _ candidate: Candidate) {
      let key = EntityTarget(entityID: name, scope: .global)
      if candidate.isLater(than: latest[key]) { latest[key] = candidate }
    }
    let ownAtPlace = place == 0 ? [] : try contexts.own(at: place)
    for (row, other, revision) in ownAtPlace where !own.contains(where: { $0.row == row }) {
      let coverage = Coverage(of: places, by: other)
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
        row: candidate.context, coverage: Coverage(of: places, by: other), level: level, isExact: false,
        isComplete: false, places: places.chain(for: other))
      return VisibleSection(record: record, context: context, resolved: places.resolved(for: other))
    }
  }
}
