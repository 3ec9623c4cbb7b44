import ArgumentParser
import Satchel
import Synchronization

/// `satchel photos verify`: compares the remote's shards with its manifest.
struct PhotoVerifyCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "verify",
    abstract: "Read every shard in the remote and compare it with the manifest.",
    discussion: """
      Reports each shard that is missing, truncated, damaged, newer than the manifest, or unreadable. With \
      --repair damaged shards are replaced with the last synced bytes, shards that are newer than the \
      manifest are applied, and the manifest is corrected. A device repairs the shards whose bytes it has; \
      another device may have the others.

        satchel photos verify guide.satchel ~/Pictures --user ana --remote s3://photos
        satchel photos verify guide.satchel ~/Pictures --user ana --remote s3://photos --repair

      Exit codes: 0 the remote is sound or was repaired; 1 the remote is damaged; 2 could not run.
      """)

  @OptionGroup var arguments: PhotoArguments
  @OptionGroup var remote: RemoteArguments

  @Flag(help: "Repair what this device has the data for.")
  var repair = false

  @Option(help: ArgumentHelp("The number of shards to read in parallel, 1 to 16.", valueName: "n"))
  var parallel = 4

  @Flag(name: [.short, .long], help: "Show no progress.")
  var quiet = false

  func validate() throws {
    guard (1...16).contains(parallel) else {
      throw ValidationError("--parallel: \(parallel) is not in 1 to 16")
    }
  }

  func run() throws {
    Interruption.installHandlers()
    var options = SyncOptions()
    options.parallel = parallel
    options.cancellation = Cancellation { Interruption.isRequested }
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
        return try photos.verify(store, user: UserID(remote.user), repair: repair, options: options) {
          progress in
          bar.withLock {
            $0.show(
              progress.shardsDone, of: progress.phase == .plan ? nil : progress.shardsTotal,
              note: "\(Terminal.bytes(progress.bytesDown)) read")
          }
          return !Interruption.isRequested
        }
      }
    } catch let error as SatchelError where error.code == .cancelled {
      Interruption.raiseSignal()
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
    if report.removed > 0 { lines.append("\(Terminal.count(Int(report.removed), "photo")) deleted locally") }
    if lines.isEmpty { lines.append("all shards match the manifest") }
    let requests = Terminal.count(Int(report.requests), "request")
    lines.append(
      "\(requests), \(Terminal.bytes(report.bytesUp)) up, \(Terminal.bytes(report.bytesDown)) down")
    return lines.joined(separator: "\n")
  }
}
