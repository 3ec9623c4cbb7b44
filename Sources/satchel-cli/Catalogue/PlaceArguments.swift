import ArgumentParser
import Satchel

/// The arguments of commands that are about a place: its names, its position, or a location as JSON.
struct PlaceArguments: ParsableArguments {
  @Option(
    parsing: .unconditional,
    help: ArgumentHelp("A place by name: \(PlaceName.form).", valueName: "place"),
    transform: PlaceName.init)
  var place: PlaceName?

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp("A position in degrees: latitude,longitude.", valueName: "position"),
    transform: Position.init)
  var at: Position?

  @Option(
    help: ArgumentHelp(
      """
      A location as JSON with latitude, longitude, sublocality, locality, admin_area, country_code; instead of \
      --place and --at.
      """, valueName: "json"),
    transform: parsedLocation)
  var location: Location?

  static let nearbyHelp = ArgumentHelp(
    "The maximum distance of the delivered places by which a location's levels are resolved; 0 for none.",
    valueName: "metres")

  static func parsedLocation(_ text: String) throws -> Location {
    do {
      return try Location(json: JSONValue(parsing: text))
    } catch {
      throw ValidationError("\(error)")
    }
  }

  func validate() throws {
    if location != nil, place != nil || at != nil {
      throw ValidationError("--location excludes --place and --at")
    }
  }

  var isGiven: Bool { place != nil || at != nil || location != nil }

  /// Returns the location that the arguments name; nil without arguments.
  ///
  /// - Throws: `SatchelError` `.invalid` for a locality without admin area that several delivered places have
  func location(in catalogue: Catalogue) throws -> Location? {
    if let location { return location }
    if let place { return try place.location(at, in: catalogue) }
    return try at.map { try Location(latitude: $0.latitude, longitude: $0.longitude) }
  }
}

extension PlaceName {
  /// Returns the location that the names denote.
  ///
  /// - Throws: `SatchelError` `.invalid` for a locality without admin area that several delivered places have
  func location(_ at: Position? = nil, in catalogue: Catalogue) throws -> Location {
    let named = try location(at, adminArea: adminArea)
    guard adminArea == nil, locality != nil || sublocality != nil else { return named }
    let contexts = try catalogue.contexts().map(\.location)
    for level in [Level.sublocality, .locality] where named.key(level) != nil {
      // A place without admin area was delivered as such.
      if contexts.contains(where: { $0.key(level) == named.key(level) }) { break }
      if let found = try delivered(at, level, in: contexts) { return found }
    }
    return named
  }

  /// Returns the location with the admin area of the delivered place that has the same name at a level; nil when
  /// there is no such place.
  private func delivered(_ at: Position?, _ level: Level, in contexts: [Location]) throws -> Location? {
    var found: [Location] = []
    for context in contexts {
      guard let adminArea = context.adminArea else { continue }
      let candidate = try location(at, adminArea: adminArea)
      guard candidate.key(level) == context.key(level),
        !found.contains(where: { $0.key(level) == candidate.key(level) })
      else { continue }
      found.append(candidate)
    }
    guard found.count > 1 else { return found.first }
    let names = found.map { PlaceName($0)?.text ?? $0.name }.sorted().joined(separator: ", ")
    throw SatchelError(.invalid, "--place: \(text) is the name of several places: \(names)")
  }

  private func location(_ at: Position?, adminArea: String?) throws -> Location {
    try Location(
      latitude: at?.latitude, longitude: at?.longitude, sublocality: sublocality, locality: locality,
      adminArea: adminArea, countryCode: country)
  }
}

/// The names of a place, as `--place` has them: the number of parts determines their levels.
struct PlaceName {
  var country: String
  var adminArea: String?
  var locality: String?
  var sublocality: String?

  static let form = "PT, PT/Porto, CN/Shanghai/Shanghai (with the admin area), CN/Shanghai/Shanghai/Pudong"

  /// Reads "country", "country/locality", "country/adminarea/locality" or
  /// "country/adminarea/locality/sublocality". The admin area may be empty, and the locality where another part
  /// names the place: "CN/Shanghai/" is an admin area.
  ///
  /// - Throws: `ValidationError` that names the part
  init(_ text: String) throws {
    guard CommandLine.isUTF8(text) else { throw ValidationError("not UTF-8") }
    let parts = text.split(separator: "/", omittingEmptySubsequences: false).map { String($0) }
    func part(_ index: Int) -> String? { parts[index].isBlank ? nil : parts[index] }
    guard parts.count <= 4 else {
      throw ValidationError("\(parts.count) parts; the forms are \(Self.form)")
    }
    guard let country = part(0) else {
      throw ValidationError("the country is missing; the forms are \(Self.form)")
    }
    guard Self.isCountryCode(country) else {
      throw ValidationError("\(country.printable) is not a country code of two letters, such as PT")
    }
    self.country = country
    if parts.count == 2 { locality = part(1) }
    if parts.count > 2 { (adminArea, locality) = (part(1), part(2)) }
    if parts.count == 4 { sublocality = part(3) }
    if parts.count == 4, sublocality == nil { throw ValidationError("the sublocality is empty") }
    if parts.count == 2 || (parts.count == 3 && adminArea == nil), locality == nil {
      throw ValidationError("the locality is empty")
    }
    try checkKeys()
  }

  /// The names of a location; nil when `--place` cannot express them, or when there is no country.
  init?(_ location: Location) {
    guard let code = location.countryCode, Self.isCountryCode(code) else { return nil }
    country = code
    if location.key(.adminarea) != nil { adminArea = location.adminArea }
    if location.key(.locality) != nil { locality = location.locality }
    if location.key(.sublocality) != nil { sublocality = location.sublocality }
    let names = [adminArea, locality, sublocality].compactMap { $0 }
    guard names.allSatisfy({ !$0.utf8.contains(UInt8(ascii: "/")) }) else { return nil }
  }

  /// The form that `init(_:)` reads.
  var text: String {
    if let sublocality {
      return "\(country)/\(adminArea ?? "")/\(locality ?? "")/\(sublocality)"
    }
    if let adminArea { return "\(country)/\(adminArea)/\(locality ?? "")" }
    return locality.map { "\(country)/\($0)" } ?? country
  }

  private static func isCountryCode(_ text: String) -> Bool {
    text.utf8.count == 2
      && text.utf8.allSatisfy { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0 | 0x20) }
  }

  /// - Throws: `ValidationError` for a name that yields no component of a key, such as ","
  private func checkKeys() throws {
    let location = try Location(
      sublocality: sublocality, locality: locality, adminArea: adminArea, countryCode: country)
    for (level, name, text) in [
      (Level.adminarea, "admin area", adminArea), (Level.locality, "locality", locality),
      (Level.sublocality, "sublocality", sublocality),
    ] {
      if let text, location.key(level) == nil {
        throw ValidationError("the \(name) \"\(text.printable)\" has no letters")
      }
    }
  }
}

/// A position, as `--at` has it.
struct Position {
  var latitude: Double
  var longitude: Double

  /// Reads "latitude,longitude".
  ///
  /// - Throws: `ValidationError` that names the number
  init(_ text: String) throws {
    let parts = text.split(separator: ",", omittingEmptySubsequences: false)
    guard parts.count == 2 else {
      throw ValidationError("not of the form latitude,longitude, such as 41.15,-8.61")
    }
    latitude = try Self.degrees(parts[0], "latitude")
    longitude = try Self.degrees(parts[1], "longitude")
    do { _ = try Location(latitude: latitude, longitude: longitude) } catch let error as JSONError {
      throw ValidationError(error.reason)
    }
  }

  private static func degrees(_ text: Substring, _ name: String) throws -> Double {
    let digits = text.drop { $0 == " " }
    guard digits.utf8.allSatisfy({ "0123456789+-.eE".utf8.contains($0) }), let degrees = Double(digits) else {
      throw ValidationError("the \(name) \"\(String(text).printable)\" is not a number of degrees")
    }
    return degrees
  }
}

extension Location {
  /// The location for people, in forms that `--place` and `--at` read: "PT/Porto/Porto  41.15,-8.61". Names that
  /// these cannot express are JSON, which `--location` reads.
  var name: String {
    let position = latitude.flatMap { latitude in longitude.map { "\(latitude),\($0)" } }
    guard countryCode != nil, keys.last?.level == .country else { return position ?? "" }
    guard let place = PlaceName(self) else { return (try? json.plainText) ?? "" }
    return ([place.text] + (position.map { [$0] } ?? [])).joined(separator: "  ")
  }
}

extension Location {
  /// Whether another location is the same place: their most specific keys are equal.
  func isSamePlace(as other: Location) -> Bool { keys.first == other.keys.first }
}

extension String {
  /// Whether it has no characters but white space.
  fileprivate var isBlank: Bool { unicodeScalars.allSatisfy(\.properties.isWhitespace) }
}
