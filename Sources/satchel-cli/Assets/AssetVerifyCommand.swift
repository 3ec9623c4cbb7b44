import ArgumentParser
import Satchel
import Synchronization

/// `satchel assets verify`: checks the bytes of all assets.
struct AssetVerifyCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "verify",
    abstract: "Check that the bytes of all assets are there and undamaged.",
    discussion: """
      Reads and hashes all bytes; with --quick, only the sizes of files are compared. Assets that are lost or \
      damaged are marked as missing, or as remote where a URL is known, so that the app fetches them again. \
      Files without an asset, which a crash may leave, are deleted.

        satchel assets verify planner.satchel
        satchel assets verify planner.satchel --quick

      Ctrl-C stops it; nothing is marked then.

      Exit codes: 0 all are there; 1 some were lost or damaged; 2 could not run.
      """)

  @OptionGroup var arguments: StoreArguments

  @Flag(help: "Compare sizes only.")
  var quick = false

  @Flag(name: [.short, .long], help: "Show no progress.")
  var quiet = false

  func run() throws {
    Interruption.installHandlers()
    let report = try verify()
    let output = try Output()
    if arguments.json {
      try output.put(report.json.plainText + "\n")
    } else {
      for sha256 in report.lost { try output.put("lost: \(sha256)\n") }
      for sha256 in report.damaged { try output.put("damaged: \(sha256)\n") }
      try output.put("\(Terminal.count(report.checked, "asset")) checked\n")
      if report.orphans > 0 {
        try output.put("\(Terminal.count(report.orphans, "file")) without an asset deleted\n")
      }
    }
    try output.finish()
    if !report.lost.isEmpty || !report.damaged.isEmpty { throw Terminal.attention }
  }

  private func verify() throws -> AssetVerifyReport {
    let bar = Mutex(Progress(isQuiet: quiet))
    do {
      defer { bar.withLock { $0.clear() } }
      return try arguments.change { store in
        try store.assets.verify(deep: !quick) { done, total in
          bar.withLock { $0.show(done, of: total, note: "assets") }
          return !Interruption.isRequested
        }
      }
    } catch let error as SatchelError where error.code == .cancelled {
      Terminal.printError("interrupted: nothing was marked")
      Interruption.raiseSignal()
      throw error
    }
  }
}
