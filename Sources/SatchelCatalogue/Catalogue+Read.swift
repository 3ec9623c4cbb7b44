import SatchelCore
import SatchelJSON
import SatchelStorage

extension Catalogue {
  /// The origin of a location's stored content.
  public enum Cached: String, Sendable {
    /// The content was delivered for the location.
    case exact
    /// The content was delivered for another location that shares a level with it.
    case inherited
  }

  /// Returns the headers of a location's sections: its own in the order of first delivery, then inherited
  /// ones by level, the most specific first. Reads no entity.
  ///
  /// - Parameters:
  ///   - inherit: whether a section that was not delivered for the location is inherited from the context that
  ///     has it and shares the most specific level with the location
  ///   - nearby: the maximum distance in metres of the nearest delivered location whose coordinate, sublocality and
  ///     locality a location with coordinates has besides those of its own names; ten times as far for the admin
  ///     area and the country, but never in another country than the stated one; 0 for none
  public func sections(
    at location: Location, inherit: Bool = true, nearby: Double = Catalogue.defaultNearby
  ) throws -> [SectionHeader] {
    let inheritance = try Inheritance(inherits: inherit, nearby: nearby)
    return try reading(location) { reader in
      try reader.visibleSections(inheritance).map { try $0.header(at: reader.now()) }
    }
  }

  /// Returns the result of `sections` as the JSON text of the C interface.
  package func sectionsText(at location: Location, inherit: Bool, nearby: Double) throws -> [UInt8] {
    let inheritance = try Inheritance(inherits: inherit, nearby: nearby)
    return try reading(location) { reader in
      var text: [UInt8] = [UInt8(ascii: "[")]
      for found in try reader.visibleSections(inheritance) {
        text.append(contentsOf: text.count > 1 ? ",{".utf8 : "{".utf8)
        try found.writeHeader(at: reader.now(), into: &text)
        text.append(UInt8(ascii: "}"))
      }
      text.append(UInt8(ascii: "]"))
      return text
    }
  }

  /// Returns a section with its content; nil when the location has no such section.
  ///
  /// - Parameters:
  ///   - allowExpired: whether expired entities, and the rest of a stale section, stay in the content; `expired` lists
  ///     the entities in either case. Those of a section of an offline region always stay
  ///   - inherit: whether the section may be inherited; see `sections`
  ///   - nearby: see `sections`
  ///   - storage: whether each entity keeps its `_storage`, so that persisting the content changes nothing; expired
  ///     entities then stay, too
  public func load(
    _ section: String, at location: Location, allowExpired: Bool = false, inherit: Bool = true,
    nearby: Double = Catalogue.defaultNearby, storage: Bool = false
  ) throws -> Section? {
    let inheritance = try Inheritance(inherits: inherit, nearby: nearby)
    return try reading(location) { reader in
      guard let found = try reader.visibleSection(section, inheritance),
        let rendered = try reader.render(found, allowsExpired: allowExpired || storage, keepsTags: storage)
      else { return nil }
      return try Section(found, rendered, at: reader.now())
    }
  }

  /// Returns the result of `load` as the JSON text of the C interface, without parsing the content into
  /// values.
  package func loadText(
    _ section: String, at location: Location, allowExpired: Bool, inherit: Bool, nearby: Double,
    storage: Bool = false
  ) throws -> [UInt8]? {
    let inheritance = try Inheritance(inherits: inherit, nearby: nearby)
    return try reading(location) { reader in
      guard let found = try reader.visibleSection(section, inheritance),
        let rendered = try reader.render(found, allowsExpired: allowExpired || storage, keepsTags: storage)
      else { return nil }
      var text: [UInt8] = []
      text.reserveCapacity(rendered.content.count + 512)
      text.append(UInt8(ascii: "{"))
      try found.writeHeader(at: reader.now(), into: &text)
      for (key, ids) in [("missing", rendered.missing), ("expired", rendered.expired)] {
        text.append(contentsOf: ",\"\(key)\":".utf8)
        try JSONValue.array(ids.map { .string($0) }).write(into: &text)
      }
      text.append(contentsOf: ",\"content\":".utf8)
      text.append(contentsOf: rendered.content)
      text.append(UInt8(ascii: "}"))
      return text
    }
  }

  /// Returns, for each section of a location, which entities are fresh, expired and missing. Reads no
  /// content.
  ///
  /// - Parameters:
  ///   - inherit: whether to include inherited sections; see `sections`
  ///   - nearby: see `sections`
  public func plan(
    for location: Location, inherit: Bool = true, nearby: Double = Catalogue.defaultNearby
  ) throws -> [(section: String, plan: Plan)] {
    let inheritance = try Inheritance(inherits: inherit, nearby: nearby)
    return try reading(location) { try $0.plan(inheritance) }
  }

  /// Returns the origin of a location's stored content; nil when nothing is stored for it.
  ///
  /// - Parameter nearby: see `sections`
  public func hasCached(_ location: Location, nearby: Double = Catalogue.defaultNearby) throws -> Cached? {
    let inheritance = try Inheritance(nearby: nearby)
    return try reading(location) { reader in
      let finder = try reader.finder(inheritance)
      if finder.isExact { return .exact }
      return try finder.all().isEmpty ? nil : .inherited
    }
  }

  func reading<Result>(_ location: Location, _ body: (SectionReader) throws -> Result) throws
    -> Result
  {
    try locating(.section(nil)) {
      try database.query { connection in
        try body(SectionReader(catalogue: self, connection: connection, location: location))
      }
    }
  }
}

extension SatchelError.Details {
  /// - Parameter name: the section; nil for none, or more than one
  static func section(_ name: String?) -> SatchelError.Details {
    SatchelError.Details(subject: Change.Subject.catalogue.rawValue, collection: name)
  }
}
