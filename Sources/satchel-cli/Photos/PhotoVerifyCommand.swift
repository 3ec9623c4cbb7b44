import ArgumentParser
import Satchel
import Synchronization

/// `satchel photos verify`: compares the remote's shards with its manifest.
struct PhotoVerifyCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "verify",
    abstract: "Read every shard in the remote and compare it with the manifest.",
    discussion: """
      Names each shard that is missing, cut short, damaged, newer than the manifest, or not to be read. With --repair \
      damaged shards are replaced by the bytes last synced, shards that are newer than the manifest are applied, and \
      the manifest is put right. A device repairs what it has the bytes for; another one may have the rest.

        satchel photos verify guide.satchel ~/Pictures --user ana --remote s3://photos
        satchel photos verify guide.satchel ~/Pictures --user ana --remote s3://photos --repair

      Exit codes: 0 the remote is sound, or was repaired; 1 it is not; 2 could not run.
      """)

  @OptionGroup var arguments: PhotoArguments
  @OptionGroup var remote: RemoteArguments

  @Flag(help: "Mend what this device can.")
  var repair = false

  @Option(help: ArgumentHelp("Shards that are read at once, 1 to 16.", valueName: "n"))
  var parallel = 4

  @Flag(name: [.short, .long], help: "Show no progress.")
  var quiet = false

  func validate() throws {
    guard (1...16).contains(parallel) else {
      throw ValidationError("--parallel: \(parallel) is not a number from 1 to 16")
    }
  }

  func run() throws {
    Interruption.listen()
    var options = SyncOptions()
    options.parallel = parallel
    options.cancellation = Cancellation { Interruption.isWanted }
    let report = try verify(options)
    let output = try Output()
    try output.put(arguments.json ? report.json.plainText + "\n" : Self.text(report) + "\n")
    try output.finish()
    if !report.isSound { throw Terminal.attention }
  }

  private func verify(_ options: SyncOptions) throws -> VerifyReport {
    let bar = Mutex(Progress(isQuiet: quiet))
    do {
      defer { bar.withLock { $0.clear() } }
      return try arguments.withCatalogue(writing: repair, creating: false) { photos in
        let store = try remote.open(isReading: !repair)
        return try photos.verify(store, user: UserID(remote.user), repairs: repair, options: options) {
          progress in
          bar.withLock {
            $0.show(
              progress.shardsDone, of: progress.phase == .plan ? nil : progress.shardsTotal,
              note: "\(Terminal.bytes(progress.bytesDown)) read")
          }
          return !Interruption.isWanted
        }
      }
    } catch let error as SatchelError where error.code == .cancelled {
      Interruption.obey()
      throw error
    }
  }

  private static func text(_ report: VerifyReport) -> String {
    var lines: [String] = []
    if report.manifest != .ok {
      lines.append("manifest: \(report.manifest.rawValue)\(report.isManifestRepaired ? ", repaired" : "")")
    }
    for found in report.shards where found.state != .ok {
      let message = found.error.map { ": \($0.message.printable)" } ?? ""
      lines.append(
        "shard \(found.shard): \(found.state.rawValue)\(found.isRepaired ? ", repaired" : message)")
    }
    if report.removed > 0 { lines.append("\(Terminal.count(Int(report.removed), "photo")) removed here") }
    if lines.isEmpty { lines.append("all shards are what the manifest says") }
    let requests = Terminal.count(Int(report.requests), "request")
    lines.append(
      "\(requests), \(Terminal.bytes(report.bytesUp)) up, \(Terminal.bytes(report.bytesDown)) down")
    return lines.joined(separator: "\n")
  }
}
