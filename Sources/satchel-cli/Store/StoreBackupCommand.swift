import ArgumentParser
import Satchel
import Synchronization

/// `satchel store backup`: writes a backup of a store that may be in use.
struct StoreBackupCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "backup",
    abstract: "Back up the store to a file, while apps use it.",
    discussion: """
      The backup is a consistent snapshot. It is checked before it is renamed to its target, where it \
      replaces an earlier backup. With --keep the target is a directory: the backup is named after store and \
      time, and the oldest backups so named are deleted.

        satchel store backup planner.satchel planner.backup
        satchel store backup planner.satchel backups/ --keep 5

      Ctrl-C stops it and leaves no partial file.

      Exit codes: 0 backed up; 1 backed up without the spooled changes in the outbox file next to the store, or \
      without files of assets that are lost; \
      2 could not run, and an earlier backup is not changed.
      """)

  @OptionGroup var arguments: StoreArguments

  @Argument(help: "The backup's file; with --keep, the directory of the backups.", completion: .file())
  var target: String

  @Option(help: ArgumentHelp("The number of backups to keep in the directory.", valueName: "n"))
  var keep: Int?

  @Flag(help: "Leave out the files of assets; small assets are in the store's file.")
  var withoutAssets = false

  @Flag(name: [.short, .long], help: "Show no progress.")
  var quiet = false

  func validate() throws {
    if let keep, keep < 1 { throw ValidationError("--keep: \(keep) is less than 1") }
  }

  func run() throws {
    var status = stat()
    let isDirectory = stat(target, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
    if isDirectory, keep == nil {
      throw SatchelError(
        .invalid,
        "\(target.printable): is a directory; give a file, or the number of backups to keep with --keep")
    }
    if !isDirectory, keep != nil {
      throw SatchelError(.notFound, "\(target.printable): is not a directory; --keep needs one")
    }
    Interruption.installHandlers()
    let (report, isSpooled) = try backUp()
    let output = try Output()
    if arguments.json {
      try output.put(report.json.plainText + "\n")
    } else {
      for path in report.removed { try output.put("removed: \(path.printable)\n") }
      let files = report.assets == 0 ? "" : ", \(report.assets) files of assets"
      try output.put("\(report.path.printable): \(Terminal.bytes(report.bytes))\(files)\n")
    }
    try output.finish()
    if report.missingAssets > 0 {
      Terminal.printError(
        "\(arguments.store.printable).assets: \(report.missingAssets) files are lost; satchel assets verify names them"
      )
    }
    guard isSpooled else {
      if report.missingAssets > 0 { throw Terminal.attention }
      return
    }
    Terminal.printError(
      "\(arguments.store.printable).outbox: contains changes that are not in the backup; the next app that "
        + "opens the store for writing applies them")
    throw Terminal.attention
  }

  private func backUp() throws -> (report: BackupReport, isSpooled: Bool) {
    let bar = Mutex(Progress(isQuiet: quiet))
    do {
      defer { bar.withLock { $0.clear() } }
      let store = try arguments.open()
      defer { try? store.close() }
      let progress: BackupProgress = { done, total in
        bar.withLock { $0.show(done, of: total, note: "pages") }
        return !Interruption.isRequested
      }
      let report =
        if let keep {
          try store.backup(
            into: Self.withoutTrailingSlashes(target), keeping: keep, assets: !withoutAssets,
            progress: progress)
        } else {
          try store.backup(to: target, assets: !withoutAssets, progress: progress)
        }
      return (report, OutboxFile(store: arguments.store).isPending)
    } catch let error as SatchelError where error.code == .cancelled {
      Terminal.printError("interrupted: no backup was written")
      Interruption.raiseSignal()
      throw error
    }
  }

  /// Removes trailing slashes, since the backup's name is appended with one.
  private static func withoutTrailingSlashes(_ directory: String) -> String {
    var directory = directory
    while directory.utf8.count > 1, directory.utf8.last == UInt8(ascii: "/") { directory.removeLast() }
    return directory
  }
}
