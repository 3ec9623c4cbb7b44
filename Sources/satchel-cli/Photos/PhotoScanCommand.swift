import ArgumentParser
import Satchel
import Synchronization

/// `satchel photos scan`: finds the photos of a directory.
struct PhotoScanCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "scan",
    abstract: "Find what is new among the photos of a directory.",
    discussion: """
      Reads the files below the directory that are new or changed since the last scan: their MD5, dates, pixels, and \
      what the camera said. Links are not followed; they, and what cannot be read, are named. Nothing in the \
      directory is changed.

        satchel photos scan --create guide.satchel ~/Pictures
        satchel photos scan guide.satchel ~/Pictures --time-zone +09:00
        satchel photos scan guide.satchel ~/Pictures --remove-missing

      Exit codes: 0 scanned; 1 something could not be read, and is named; 2 could not run. When Ctrl-C ends it, what \
      was found stays, and the next scan goes on from there.
      """)

  @OptionGroup var arguments: PhotoArguments
  @OptionGroup var creation: CreationArguments

  @Flag(
    help: "Take photos out of the catalogue whose files are gone; the next sync takes them from the master.")
  var removeMissing = false

  @Flag(help: "Read files again that look unchanged.")
  var everything = false

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp("What dates are in whose camera did not say; UTC unless given.", valueName: "+hh:mm"),
    transform: zone)
  var timeZone = TimeZone(seconds: 0)

  @Option(help: ArgumentHelp("Files that are read at once, 1 to 16.", valueName: "n"))
  var parallel = 2

  @Flag(name: [.short, .long], help: "Show no progress.")
  var quiet = false

  private static func zone(_ text: String) throws -> TimeZone {
    guard let zone = TimeZone(text) else {
      throw ValidationError("--time-zone: \(text.printable) is not like +02:00, -0330 or Z")
    }
    return zone
  }

  func validate() throws {
    guard (1...16).contains(parallel) else {
      throw ValidationError("--parallel: \(parallel) is not a number from 1 to 16")
    }
  }

  func run() throws {
    Interruption.listen()
    let options = ScanOptions(
      timeZoneOffset: timeZone.seconds, removesMissing: removeMissing, readsEverything: everything,
      parallel: parallel)
    try creation.check(arguments.directory)
    let report = try arguments.withCatalogue(writing: true, creating: creation.create) { photos in
      let bar = Mutex(Progress(isQuiet: quiet))
      defer { bar.withLock { $0.clear() } }
      return try photos.scan(options: options) { progress in
        bar.withLock { Self.show(progress, in: &$0) }
        return !Interruption.isWanted
      }
    }
    try tell(report)
    if report.isCancelled { Interruption.obey() }
    if report.skippedCount > report.skippedLinks { throw Terminal.attention }
  }

  private static func show(_ progress: ScanProgress, in bar: inout Progress) {
    switch progress.phase {
    case .walking: bar.show(Int(progress.filesFound), of: nil, note: "looking for photos")
    case .reading:
      let total = progress.filesTotal.map { Int($0) }
      bar.show(Int(progress.filesDone), of: total, note: Terminal.bytes(progress.bytesDone))
    }
  }

  private func tell(_ report: ScanReport) throws {
    let output = try Output()
    if arguments.json {
      try output.put(report.json.plainText + "\n")
    } else {
      for path in report.missingFiles { try output.put("missing: \(path.printable)\n") }
      for remark in report.remarks {
        try output.put("\(remark.path.printable): \(remark.reason.printable)\n")
      }
      for skipped in report.skipped {
        try output.put("skipped: \(skipped.path.printable): \(skipped.reason.printable)\n")
      }
      try output.put(Self.summary(report) + "\n")
    }
    try output.finish()
    for library in report.missingLibraries {
      Terminal.complain("\(library.printable) is not here: sizes and camera data of new photos stay unknown")
    }
    if report.isCancelled { Terminal.complain("interrupted: what was found is kept") }
  }

  private static func summary(_ report: ScanReport) -> String {
    var parts = [
      "\(report.added) added", "\(report.changed) changed", "\(report.unchanged) unchanged",
      "\(report.missing) missing",
    ]
    if report.removed > 0 { parts.append("\(report.removed) removed") }
    if report.duplicates > 0 { parts.append("\(report.duplicates) duplicate") }
    if report.skippedCount > 0 { parts.append("\(report.skippedCount) skipped") }
    return "\(parts.joined(separator: ", ")); \(Terminal.bytes(report.bytesRead)) read"
  }
}
