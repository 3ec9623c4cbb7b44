import ArgumentParser
import Satchel

/// `satchel catalogue refresh`: fetches what is missing, expired or old.
struct CatalogueRefreshCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "refresh",
    abstract: "Fetch what is missing, expired or old at a location from a server.",
    discussion: """
      The server is asked by GET of the URL, with the location as query parameters; it answers with a section or a \
      delivery. What failed before is not asked for before its time.

        satchel catalogue refresh guide.satchel --place PT/Porto --from https://api.example.org/content
        satchel catalogue refresh guide.satchel --place PT/Porto --section sights --from https://api.example.org/content

      Exit codes: 0 all that was due is stored; 1 a request failed, or has to wait; 2 could not run.
      """)

  @OptionGroup var arguments: StoreArguments

  @OptionGroup var place: PlaceArguments

  @OptionGroup var source: SourceArguments

  @Option(help: "Only this section; may be repeated.")
  var section: [String] = []

  @Flag(help: "Ask also for what is fresh, and for what failed before its time.")
  var force = false

  @Option(help: ArgumentHelp("The age from which content is old.", valueName: "seconds"))
  var staleAfter: Int64?

  func validate() throws {
    if !place.isGiven { throw ValidationError("give a place with --place, --at or --location") }
    if let staleAfter, staleAfter < 0 { throw ValidationError("--stale-after: \(staleAfter) is negative") }
  }

  func run() throws {
    let source = try source.source()
    var options = RefreshOptions()
    options.force = force
    if let staleAfter { options.staleAfter = staleAfter }
    let store = try arguments.open(writing: true)
    guard let location = try place.location(in: store.catalogue) else { return }
    let report = try store.catalogue.refresh(
      location, sections: section.isEmpty ? nil : section, from: source, options: options)
    try store.close()
    if arguments.json { try Terminal.print(json: report.json) } else { show(report) }
    let hasToWait = report.skipped.contains { $0.reason != .fresh }
    if !report.failed.isEmpty || hasToWait { throw Terminal.attention }
  }

  private func show(_ report: RefreshReport) {
    for name in report.refreshed { print("\(name): stored") }
    for name in report.unchanged { print("\(name): not modified") }
    for name in report.notFound { print("\(name ?? "the location"): not found") }
    for each in report.skipped { print("\(each.section ?? "the location"): \(each.reason.rawValue)") }
    for each in report.failed {
      Terminal.printError("\(each.section ?? "the location"): \(each.message)")
    }
  }
}
