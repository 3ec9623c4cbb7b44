import ArgumentParser
import Satchel
import Synchronization

/// `satchel store backup`: copies a store while it is in use.
struct StoreBackup: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "backup",
    abstract: "Copy the store into a file of its own, while apps use it.",
    discussion: """
      The copy holds one state, and is examined before it gets its name; an earlier backup of that name is replaced. \
      With --keep the target is a directory: the backup is named by store and time, and the oldest of those that \
      were made so go.

        satchel store backup planner.satchel planner.backup
        satchel store backup planner.satchel backups/ --keep 5

      Ctrl-C stops it, and leaves no part of a copy.

      Exit codes: 0 made; 1 made, but changes that wait in the spill file beside the store are not in it; 2 could \
      not run, and what was there stays.
      """)

  @OptionGroup var arguments: StoreArguments

  @Argument(help: "The backup's file; with --keep, the directory of the backups.", completion: .file())
  var target: String

  @Option(help: ArgumentHelp("So many backups stay in the directory.", valueName: "n"))
  var keep: Int?

  @Flag(name: [.short, .long], help: "Show no progress.")
  var quiet = false

  func validate() throws {
    if let keep, keep < 1 { throw ValidationError("--keep: \(keep) is less than 1") }
  }

  func run() throws {
    var facts = stat()
    let isDirectory = stat(target, &facts) == 0 && facts.st_mode & S_IFMT == S_IFDIR
    if isDirectory, keep == nil {
      throw SatchelError(
        .invalid, "\(target.printable): is a directory; --keep says how many backups stay in it")
    }
    if !isDirectory, keep != nil {
      throw SatchelError(.notFound, "\(target.printable): is no directory, which --keep asks for")
    }
    Interruption.listen()
    let (report, isSpilled) = try backUp()
    let output = try Output()
    if arguments.json {
      try output.put(report.json.plainText + "\n")
    } else {
      for path in report.removed { try output.put("removed: \(path.printable)\n") }
      try output.put("\(report.path.printable): \(Terminal.bytes(report.bytes))\n")
    }
    try output.finish()
    guard isSpilled else { return }
    Terminal.complain(
      "\(arguments.store.printable).spill: holds changes that are not in the backup; the next app that opens the "
        + "store to write takes them in")
    throw Terminal.attention
  }

  private func backUp() throws -> (report: BackupReport, isSpilled: Bool) {
    let bar = Mutex(Progress(isQuiet: quiet))
    do {
      defer { bar.withLock { $0.clear() } }
      let store = try arguments.open()
      defer { try? store.close() }
      let progress: BackupProgress = { done, total in
        bar.withLock { $0.show(done, of: total, note: "pages") }
        return !Interruption.isWanted
      }
      let report =
        if let keep {
          try store.backup(into: Self.tidy(target), keeping: keep, progress: progress)
        } else {
          try store.backup(to: target, progress: progress)
        }
      return (report, SpillFile(store: arguments.store).isPending)
    } catch let error as SatchelError where error.code == .cancelled {
      Terminal.complain("interrupted: no backup was made")
      Interruption.obey()
      throw error
    }
  }

  /// Without slashes at the end, which the names of the backups bring.
  private static func tidy(_ directory: String) -> String {
    var directory = directory
    while directory.utf8.count > 1, directory.utf8.last == UInt8(ascii: "/") { directory.removeLast() }
    return directory
  }
}
