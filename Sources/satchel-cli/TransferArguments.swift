import ArgumentParser
import Satchel
import Synchronization

/// The common options, progress, interruption and output of the commands that transfer objects.
struct TransferArguments: ParsableArguments {
  @Option(help: ArgumentHelp("The number of objects to transfer in parallel, 1 to 16.", valueName: "n"))
  var parallel = 4

  @Flag(name: [.short, .long], help: "Show no progress.")
  var quiet = false

  func validate() throws {
    guard (1...16).contains(parallel) else {
      throw ValidationError("--parallel: \(parallel) is not in 1 to 16")
    }
  }

  /// Runs `body` with progress until it ends or the user interrupts it, and prints its report.
  ///
  /// - Parameters:
  ///   - interrupted: the message after a user interrupted it
  ///   - text: the report for people
  ///   - body: gets the options, and the progress callback
  func run<Options: TransferOptions, Report: JSONConvertible>(
    _ options: Options, json: Bool, interrupted: String? = nil, text: (Report) -> String,
    _ body: (Options, @escaping @Sendable (SyncProgress) -> Bool) throws -> Report
  ) throws -> Report {
    Interruption.installHandlers()
    var options = options
    options.parallel = parallel
    options.cancellation = Cancellation { Interruption.isRequested }
    let report: Report
    do {
      let bar = Mutex(Progress(isQuiet: quiet))
      defer { bar.withLock { $0.clear() } }
      report = try body(options) { progress in
        bar.withLock { $0.show(progress) }
        return !Interruption.isRequested
      }
    } catch let error as SatchelError where error.code == .cancelled {
      if let interrupted { Terminal.printError(interrupted) }
      Interruption.raiseSignal()
      throw error
    }
    let output = try Output()
    try output.put((json ? report.json.plainText : text(report)) + "\n")
    try output.finish()
    return report
  }

  /// The message after a user interrupted a sync.
  static let interruptedSync =
    "interrupted: completed transfers are kept, and the next sync continues from there"
}

extension Progress {
  fileprivate mutating func show(_ progress: SyncProgress) {
    let unit =
      switch progress.phase {
      case .download: "downloading"
      case .apply: "applying"
      case .upload: "uploading"
      case .plan, .shards, .manifest: "photos"
      case .files: "files"
      }
    let total = progress.total > 0 ? progress.total : nil
    let done = progress.done > 0 || total != nil ? progress.done : nil
    show(done, of: total, note: "\(unit), \(Terminal.traffic(progress.bytesUp, progress.bytesDown))")
  }
}

extension Terminal {
  /// Formats the bytes of bodies: "2 KB up, 0 bytes down".
  static func traffic(_ up: Int64, _ down: Int64) -> String { "\(bytes(up)) up, \(bytes(down)) down" }

  /// Formats the traffic of a report.
  static func traffic(requests: Int64, _ up: Int64, _ down: Int64) -> String {
    "\(count(Int(requests), "request")), \(traffic(up, down))"
  }
}
