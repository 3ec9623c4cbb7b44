import ArgumentParser
import Satchel

/// `satchel region create`: defines a region.
struct RegionCreateCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "create",
    abstract: "Define an offline region; what is stored for its locations belongs to it at once.",
    discussion: """
      Each --place, --at and --location is a location of its own. Nothing is downloaded.

        satchel region create guide.satchel lisboa --place PT/Lisboa
        satchel region create guide.satchel coast --at 38.7,-9.1 --within 20000 --section sights --no-assets

      Exit codes: 0 created, or there as defined; 1 there is a region of that name with another definition; 2 could not \
      run, and nothing was changed.
      """)

  @OptionGroup var arguments: StoreArguments

  @Argument(help: "The name of the region.")
  var name: String

  @Option(
    parsing: .unconditionalSingleValue,
    help: ArgumentHelp("A place by name: \(PlaceName.form); may be repeated.", valueName: "place"),
    transform: PlaceName.init)
  var place: [PlaceName] = []

  @Option(
    parsing: .unconditionalSingleValue,
    help: ArgumentHelp("A position in degrees, latitude,longitude; may be repeated.", valueName: "position"),
    transform: Position.init)
  var at: [Position] = []

  @Option(
    help: ArgumentHelp(
      """
      A location as JSON with latitude, longitude, sublocality, locality, admin_area, country_code; may be repeated.
      """, valueName: "json"),
    transform: PlaceArguments.parsedLocation)
  var location: [Location] = []

  @Option(help: "Only this section; may be repeated.")
  var section: [String] = []

  @Flag(name: .customLong("no-assets"), help: "Leave the assets out that the content refers to.")
  var leavesAssets = false

  @Option(
    help: ArgumentHelp(
      "Add the delivered places within this distance of the locations with coordinates.", valueName: "metres")
  )
  var within: Double?

  @Option(
    help: ArgumentHelp(
      "The maximum of bytes of its content and assets together; unlimited by default.",
      valueName: "bytes"))
  var maxBytes: Int64?

  func validate() throws {
    if place.isEmpty, at.isEmpty, location.isEmpty {
      throw ValidationError("give a location with --place, --at or --location")
    }
    if within != nil, at.isEmpty, !location.contains(where: { $0.latitude != nil }) {
      throw ValidationError("--within: needs a location with coordinates; give one with --at or --location")
    }
  }

  func run() throws {
    let region = try arguments.change { store in
      let named = try place.map { try $0.location(in: store.catalogue) }
      let positions = try at.map { try Location(latitude: $0.latitude, longitude: $0.longitude) }
      var definition = RegionDefinition(named + positions + location)
      for index in definition.areas.indices where definition.areas[index].location.latitude != nil {
        definition.areas[index].within = within
      }
      definition.sections = section.isEmpty ? nil : section
      (definition.assets, definition.maxBytes) = (!leavesAssets, maxBytes)
      return try store.catalogue.regions.create(name, definition).summary()
    }
    if arguments.json { return try Terminal.print(json: region.json) }
    let size = region.size
    print(
      "\(region.name.printable): \(Terminal.count(size.entities, "entity", plural: "entities")) and "
        + "\(Terminal.count(size.assets, "asset")) are here, \(Terminal.count(size.requestsLeft, "request")) left."
    )
  }
}
