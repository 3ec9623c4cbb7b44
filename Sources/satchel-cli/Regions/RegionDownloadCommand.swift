import ArgumentParser
import Satchel
import Synchronization

/// `satchel region download`: gets what is missing of a region.
struct RegionDownloadCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "download",
    abstract: "Get what is missing or expired of an offline region from a server, with its assets.",
    discussion: """
      The server is asked as by "catalogue refresh". What has arrived is stored, and the next download goes on with what \
      is left, also after Ctrl-C.

        satchel region download guide.satchel porto --from https://api.example.org/content

      Exit codes: 0 all of it is here; 1 something failed or is left, or there is no such region; 2 could not run.
      """)

  @OptionGroup var arguments: StoreArguments
  @OptionGroup var download: RegionDownloadArguments

  func run() throws { try download.run(arguments, isUpdate: false) }
}

/// `satchel region update`: downloads a region, and asks whether the rest of it has changed.
struct RegionUpdateCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "update",
    abstract: "Download an offline region, and ask the server for what has changed.",
    discussion: """
      As "region download", and asks also for what is stored with an entity tag.

        satchel region update guide.satchel porto --from https://api.example.org/content

      Exit codes: 0 all of it is here; 1 something failed or is left, or there is no such region; 2 could not run.
      """)

  @OptionGroup var arguments: StoreArguments
  @OptionGroup var download: RegionDownloadArguments

  func run() throws { try download.run(arguments, isUpdate: true) }
}

/// The arguments and the run of the commands that download a region.
struct RegionDownloadArguments: ParsableArguments {
  @Argument(help: "The name of the region.")
  var name: String

  @OptionGroup var source: SourceArguments

  @Option(help: ArgumentHelp("Begin no further asset after so many bytes.", valueName: "bytes"))
  var maxBytes: Int64?

  @Option(help: ArgumentHelp("The number of requests to send in parallel, 1 to 16.", valueName: "n"))
  var parallel = 4

  @Flag(name: [.short, .long], help: "Show no progress.")
  var quiet = false

  func validate() throws {
    guard (1...16).contains(parallel) else {
      throw ValidationError("--parallel: \(parallel) is not in 1 to 16")
    }
    if let maxBytes, maxBytes < 0 { throw ValidationError("--max-bytes: \(maxBytes) is negative") }
  }

  func run(_ arguments: StoreArguments, isUpdate: Bool) throws {
    let source = try source.source()
    let store = try arguments.open(writing: true)
    guard let region = try store.catalogue.regions[name] else { throw RegionCommand.missing(name) }
    let report = try transfer(region, from: source, isUpdate: isUpdate)
    try store.close()
    if arguments.json { try Terminal.print(json: report.json) } else { show(report) }
    if !report.failed.isEmpty || report.waiting > 0 || report.state == .partial { throw Terminal.attention }
  }

  private func transfer(_ region: Region, from source: HTTPSource, isUpdate: Bool) throws -> RegionReport {
    Interruption.installHandlers()
    var options = RegionDownloadOptions()
    (options.parallel, options.maxBytes) = (parallel, maxBytes)
    let bar = Mutex(Progress(isQuiet: quiet))
    defer { bar.withLock { $0.clear() } }
    let progress: @Sendable (RegionProgress) -> Bool = { progress in
      bar.withLock {
        $0.show(
          progress.itemsDone, of: progress.items,
          note: "\(Terminal.bytes(progress.bytesDone)) of \(Terminal.bytes(progress.bytes))")
      }
      return !Interruption.isRequested
    }
    let cancellation = Cancellation { Interruption.isRequested }
    do {
      return try isUpdate
        ? region.update(from: source, options: options, progress: progress, cancellation: cancellation)
        : region.download(from: source, options: options, progress: progress, cancellation: cancellation)
    } catch let error as SatchelError where error.code == .cancelled {
      bar.withLock { $0.clear() }
      Terminal.printError("interrupted: what has arrived is kept; the next download continues")
      Interruption.raiseSignal()
      throw error
    }
  }

  private func show(_ report: RegionReport) {
    print("\(name.printable): \(report.state.rawValue)")
    print(
      "\(Terminal.count(report.requests, "request")): \(Terminal.count(report.refreshed, "section")) stored, "
        + "\(report.unchanged) not modified, \(Terminal.bytes(report.contentBytes))")
    print("\(Terminal.count(report.assets, "asset")): \(Terminal.bytes(report.assetBytes))")
    if report.notFound > 0 { print("\(Terminal.count(report.notFound, "request")) without content") }
    if report.waiting > 0 { print("\(report.waiting) left for a later download") }
    RegionCommand.print(failures: report.failed)
  }
}
