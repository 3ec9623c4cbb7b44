import SatchelCore
import SatchelJSON
import SatchelStorage

/// A variant of an entity, with its content.
public struct Entity: Sendable, Equatable, JSONConvertible {
  public var entityID: String
  public var content: JSONValue
  public var scope: Scope
  public var displayName: String
  /// In Unix milliseconds.
  public var expiresAt: Int64
  /// In Unix milliseconds.
  public var updatedAt: Int64
  /// When it was first stored, in Unix milliseconds.
  public var createdAt: Int64
  /// The location of the delivery that wrote the content, as it was first delivered; nil when its context was
  /// removed.
  public var source: Location?
  /// A location that it was delivered for: of entities near a point the nearest one, otherwise `source`.
  public var location: Location?
  /// The distance of that location from the requested one in metres; nil where one of them has no coordinates.
  public var distance: Double?

  /// The JSON object that the C interface returns.
  public var json: JSONValue {
    [
      "entity_id": .string(entityID), "content": content, "scope": .string(scope.name),
      "display_name": .string(displayName), "expires_at": .int(expiresAt), "updated_at": .int(updatedAt),
      "created_at": .int(createdAt), "source": source?.json ?? .null,
      "location": location?.json ?? .null,
      "distance": distance.map { .double($0) } ?? .null,
    ]
  }
}

extension Catalogue {
  /// Returns the most specific variant of an entity that covers a location, expired or not; nil when there is
  /// no such variant.
  ///
  /// - Parameter nearby: see `sections`
  public func entity(
    _ entityID: String, at location: Location, nearby: Double = Catalogue.defaultNearby
  ) throws -> Entity? {
    let inheritance = try Inheritance(nearby: nearby)
    return try reading(location) { reader in
      let places = try reader.finder(inheritance).places()
      let view = try index.view(of: reader.connection)
      let entities = EntityTable(connection: reader.connection)
      for scope in Scope.allCases.ordered(by: >) {
        for place in scope.level.map({ places[$0] }) ?? [0] {
          let variant = VariantIndex.Variant(entityID: entityID, scope: scope, place: place)
          guard let row = try view.find(variant), let record = try entities.record(row),
            let entity = try self.entity(record, among: places, in: reader.connection)
          else { continue }
          return try entity.measured(from: location)
        }
      }
      return nil
    }
  }

  /// Returns the variant of an entity that was delivered last, wherever; nil when none is stored.
  ///
  /// Time grows with the number of stored entities.
  public func entity(_ entityID: String) throws -> Entity? { try variants(of: entityID, limit: 1).first }

  /// Returns all stored variants of an entity, the one that was delivered last first.
  ///
  /// Time grows with the number of stored entities.
  public func variants(of entityID: String) throws -> [Entity] { try variants(of: entityID, limit: .max) }

  private func variants(of entityID: String, limit: Int) throws -> [Entity] {
    try locating(.section(EntityID.section(of: entityID))) {
      try database.query { connection in
        var rows: [Int64] = []
        try connection.each(
          "SELECT id FROM entity WHERE entity_id = ? AND size IS NOT NULL ORDER BY updated_at DESC, id DESC",
          .text(entityID)
        ) { rows.append($0.anyInteger(0)) }
        let entities = EntityTable(connection: connection)
        var found: [Entity] = []
        for row in rows where found.count < limit {
          guard let record = try entities.record(row) else { continue }
          let chain = try ContextTable(connection: connection).chain(of: record.source) ?? PlaceChain()
          if let entity = try self.entity(record, among: ResolvedPlaces(own: chain), in: connection) {
            found.append(entity)
          }
        }
        return found
      }
    }
  }

  /// Returns the entities of the locations that content was delivered for within a distance, each variant once, with the
  /// nearest of these locations, and by its distance; those of one location in the order of its sections. They may have
  /// expired.
  ///
  /// - Parameters:
  ///   - latitude: degrees, -90 to 90
  ///   - longitude: degrees, -180 to 180
  ///   - within: metres
  ///   - section: only entities of sections with this name; nil for all
  /// - Throws: `JSONError` for an invalid coordinate, `SatchelError` `.invalid` for a negative distance, and for more
  ///   than 100,000 entities or 256 MB
  public func nearEntities(
    latitude: Double, longitude: Double, within: Double = Catalogue.defaultNearby, section: String? = nil
  ) throws -> [Entity] {
    let position = try Location(latitude: latitude, longitude: longitude)
    guard within >= 0 else {
      throw SatchelError(.invalid, "within: \(within) is not a distance in metres")
    }
    return try reading(position) { reader in
      let connection = reader.connection
      let (sections, entities) = (SectionTable(connection: connection), EntityTable(connection: connection))
      let near = try PositionIndex(connection: connection).entries(
        around: latitude, longitude, within: within)
      var (known, found, bytes) = (Set<Int64>(), [Entity](), 0)
      for entry in near.ordered(by: { ($0.distance, $0.context) < ($1.distance, $1.context) }) {
        let chain = try ContextTable(connection: connection).chain(of: entry.context) ?? PlaceChain()
        for record in try sections.records(of: entry.context)
        where section.map({ $0.hasSameBytes(as: record.name) }) ?? true {
          for placeholder in try sections.placeholders(record.id)
          where known.insert(placeholder.target.entity).inserted {
            guard let record = try entities.record(placeholder.target.entity),
              var entity = try self.entity(record, among: ResolvedPlaces(own: chain), in: connection)
            else { continue }
            (entity.location, entity.distance) = (entry.location, entry.distance)
            found.append(entity)
            bytes += Int(record.size ?? 0)
            guard found.count <= Renderer.maxEntities, bytes <= Renderer.maxBytes else {
              throw SatchelError(
                .invalid,
                "within: more than \(Renderer.maxEntities) entities or \(Renderer.maxBytes >> 20) MB are so near"
              ).at(id: record.entityID, limit: Renderer.maxEntities)
            }
          }
        }
      }
      return found
    }
  }

  /// Returns a stored variant with its content; nil when it has none.
  ///
  /// - Parameter places: the places by which nested entities are found
  private func entity(
    _ record: EntityRecord, among places: ResolvedPlaces, in connection: Connection
  ) throws -> Entity? {
    guard record.size != nil else { return nil }
    var chain = places.chain(for: PlaceChain())
    if let level = record.scope.level { chain[level] = record.place }
    var renderer = Renderer(
      entities: EntityTable(connection: connection),
      variants: { try self.index.view(of: connection) }, chain: chain, coverage: .everything,
      now: database.clock.now(), allowsExpired: true)
    guard try Renderer.naming("entity \(record.entityID)", { try renderer.render(record) }) else {
      return nil
    }
    let source = try ContextTable(connection: connection).location(of: record.source)
    return Entity(
      entityID: record.entityID, content: try JSONValue(parsing: renderer.output), scope: record.scope,
      displayName: record.displayName, expiresAt: record.expiresAt, updatedAt: record.updatedAt,
      createdAt: record.createdAt,
      source: source, location: source)
  }
}

extension Entity {
  fileprivate func measured(from position: Location) throws -> Entity {
    guard let one = position.latitude, let other = position.longitude, let latitude = location?.latitude,
      let longitude = location?.longitude
    else { return self }
    var entity = self
    entity.distance = GreatCircle.distance(from: (one, other), to: (latitude, longitude))
    return entity
  }
}
