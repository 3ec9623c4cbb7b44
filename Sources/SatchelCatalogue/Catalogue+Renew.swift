import SatchelCore
import SatchelStorage

extension Catalogue {
  /// The longest time to live of a section in seconds: one thousand years.
  package static let maxAge: Int64 = 1000 * 366 * 24 * 3600

  /// Renews what is stored for a location, because its source answered that it is not modified (RFC 9110, 304): the
  /// expiry of its sections and of their entities, and `fetchedAt`. The content stays, so that observers are not notified.
  ///
  /// - Parameters:
  ///   - location: the location that it was delivered for; nothing is inherited
  ///   - section: only this section; nil renews all
  ///   - etag: the entity tag of the answer; nil keeps those that are stored
  ///   - maxAge: the time to live of the sections from now on, in seconds; nil keeps their own
  /// - Returns: the number of sections that were renewed; 0 when none is stored for the location
  /// - Throws: `SatchelError` `.invalid` for a negative age; `.busy`, `.full`, `.readOnly`, `.io`
  @discardableResult
  public func renew(
    _ location: Location, section: String? = nil, etag: String? = nil, maxAge: Int64? = nil
  ) throws -> Int {
    if let maxAge, maxAge < 0 {
      throw SatchelError(.invalid, "max_age: \(maxAge) is negative")
    }
    let timeToLive = maxAge.map { min($0, Self.maxAge) * 1000 }
    return try locating(.section(section)) {
      try database.write { transaction in
        let connection = transaction.connection
        let context = try ContextTable(connection: connection).exact(PlaceChain(location, in: connection))
        if context == 0 { return 0 }
        let table = SectionTable(connection: connection)
        let records = try table.records(section, of: context)
        let entities = EntityTable(connection: connection)
        var rows: Set<Int64> = []
        for record in records {
          rows.formUnion(try table.placeholders(record.id).map(\.target.entity))
          try SectionTable.noteFetch(
            record.name, etag: etag ?? record.etag, timeToLive: timeToLive ?? record.timeToLive, of: context,
            in: transaction)
        }
        for row in rows.ordered() {
          guard let record = try entities.record(row), record.size != nil else { continue }
          try entities.renew(record, now: transaction.now)
        }
        return records.count
      }
    }
  }
}
