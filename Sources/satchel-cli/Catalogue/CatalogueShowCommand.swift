import ArgumentParser
import Satchel

/// `satchel catalogue show`: shows the stored places, the sections of a location, or the content of a
/// section.
struct CatalogueShowCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "show",
    abstract: "Show the places, the sections of a location, or the content of a section.",
    discussion: """
      Without a place, lists the places that content was delivered for, the latest first, as --place and --at \
      name them. With a place, lists the headers of the sections that are available there offline: those of the \
      place itself, and those that it inherits, each from the place that has it and shares the most specific \
      level.

        satchel catalogue show guide.satchel
        satchel catalogue show guide.satchel --place PT/Porto
        satchel catalogue show guide.satchel --place PT/Porto --section facts
        satchel catalogue show guide.satchel --at 41.15,-8.61
        satchel catalogue show guide.satchel --location '{"country_code": "PT"}'

      A locality without an admin area, as in PT/Porto, means the delivered place of that name; where several \
      admin areas have one, the message lists them.

      A section's content includes expired entities, whose ids are listed.

      Exit codes: 0 shown; 1 nothing is stored for the location or section; 2 could not run.
      """)

  @OptionGroup var arguments: StoreArguments

  @OptionGroup var place: PlaceArguments

  @Option(help: "Show the content of this section; needs a place.")
  var section: String?

  @Flag(inversion: .prefixedNo, help: "Include the sections that the location inherits from other places.")
  var inherit = true

  @Option(help: PlaceArguments.nearbyHelp)
  var nearby = Catalogue.defaultNearby

  func validate() throws {
    if !place.isGiven, section != nil || !inherit {
      throw ValidationError("--section and --no-inherit need a place: --place, --at or --location")
    }
  }

  func run() throws {
    let store = try arguments.open()
    defer { try? store.close() }
    guard let location = try place.location(in: store.catalogue) else { return try showContexts(store) }
    if let section { return try show(section, at: location, in: store.catalogue) }
    try showSections(at: location, in: store.catalogue)
  }

  private func showContexts(_ store: Store) throws {
    let contexts = try store.catalogue.contexts()
    if arguments.json {
      try Terminal.print(json: .array(contexts.map(\.json)))
    } else if contexts.isEmpty {
      Terminal.printError("\(arguments.store): nothing is stored")
    } else {
      let active = try store.catalogue.activeLocation()
      let rows = contexts.map { context in
        [
          Terminal.time(context.updatedAt), Terminal.count(context.sectionCount, "section"),
          Terminal.count(context.entityCount, "entity", plural: "entities"),
          context.location.name
            + (active.map { $0.isSamePlace(as: context.location) } ?? false ? "  (active)" : ""),
        ]
      }
      print(Terminal.table(rows))
    }
    if contexts.isEmpty { throw Terminal.attention }
  }

  private func showSections(at location: Location, in catalogue: Catalogue) throws {
    let headers = try catalogue.sections(at: location, inherit: inherit, nearby: nearby)
    if arguments.json {
      try Terminal.print(json: .array(headers.map(\.json)))
    } else if headers.isEmpty {
      Terminal.printError("nothing is stored for \(location.name)")
    } else {
      let rows = headers.map { header in
        [
          header.section, Terminal.count(header.entityCount, "entity", plural: "entities"), by(header),
          Terminal.time(header.updatedAt), header.displayTitle ?? "",
        ]
      }
      print(Terminal.table(rows))
    }
    if headers.isEmpty { throw Terminal.attention }
  }

  private func show(_ section: String, at location: Location, in catalogue: Catalogue) throws {
    let found = try catalogue.load(
      section, at: location, allowExpired: true, inherit: inherit, nearby: nearby)
    guard let found else {
      if arguments.json { try Terminal.print(json: .null) }
      Terminal.printError("no section \(section) is stored for \(location.name)")
      throw Terminal.attention
    }
    if arguments.json { return try Terminal.print(json: json(found)) }
    print("\((found.header.displayTitle ?? section).printable), \(by(found.header))")
    if !found.expired.isEmpty { print("expired: \(found.expired.joined(separator: ", ").printable)") }
    if !found.missing.isEmpty { print("missing: \(found.missing.joined(separator: ", ").printable)") }
    print(try found.content.pretty().printableJSON)
  }

  /// Returns the level at which a section was found, and from where.
  private func by(_ header: SectionHeader) -> String {
    guard
      let resolved = header.resolved.first(where: { Scope($0.level) == header.level })
        ?? header.resolved.first
    else { return "by \(header.level.name)" }
    return "by \(header.level.name) of \(resolved.location.name), \(Int(resolved.metres.rounded())) m away"
  }

  private func json(_ section: Section) -> JSONValue {
    var json = section.header.json.objectValue ?? JSONObject()
    json["missing"] = .array(section.missing.map { .string($0) })
    json["expired"] = .array(section.expired.map { .string($0) })
    json["content"] = section.content
    return .object(json)
  }
}
