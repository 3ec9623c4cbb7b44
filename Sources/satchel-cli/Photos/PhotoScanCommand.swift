import ArgumentParser
import Satchel
import Synchronization

/// `satchel photos scan`: adds the photos of a directory to its catalogue.
struct PhotoScanCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "scan",
    abstract: "Find new and changed photos in a directory.",
    discussion: """
      Reads the files below the directory that are new or changed since the last scan: MD5, dates, size in \
      pixels and camera metadata. Symbolic links are not followed; links, unreadable files and photos whose \
      files are missing are reported. Hidden files and folders of systems and apps, such as @eaDir and \
      *.photoslibrary, are left out, and what files named .satchelignore say. The directory is not changed.

        satchel photos scan --create guide.satchel ~/Pictures
        satchel photos scan guide.satchel ~/Pictures --time-zone Europe/Berlin
        satchel photos scan guide.satchel ~/Pictures --exclude 'export/' --exclude '*_preview.jpg'
        satchel photos scan guide.satchel ~/Pictures --delete-missing

      Exit codes: 0 scanned; 1 some files could not be read; 2 could not run. After Ctrl-C the photos found \
      so far are kept, and the next scan continues from there.
      """)

  @OptionGroup var arguments: PhotoArguments
  @OptionGroup var creation: CreationArguments

  @Flag(
    help:
      "Delete photos from the catalogue whose files are missing; the next sync deletes them on the remote.")
  var deleteMissing = false

  @Flag(
    help: ArgumentHelp(
      "Delete more than a half of the photos if need be, and scan a directory that has become empty.",
      discussion: "Without it such a scan deletes nothing, and says so: a disk may not be mounted."))
  var allowMassDeletion = false

  @Option(
    parsing: .unconditionalSingleValue,
    help: ArgumentHelp("A rule for what is left out, as in .satchelignore; repeatable.", valueName: "pattern")
  )
  var exclude: [String] = []

  @Flag(help: "Read all files again, including those that look unchanged.")
  var forceRehash = false

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "The time zone of dates without one: +02:00, or a name such as Europe/Berlin; the default is UTC.",
      valueName: "zone"),
    transform: zone)
  var timeZone = PhotoTimeZone.utc

  @Flag(help: "Use only dates in the photos' files; not those of sidecars, Google Takeout and names.")
  var embeddedDatesOnly = false

  @Option(help: ArgumentHelp("The number of files to read in parallel, 1 to 16.", valueName: "n"))
  var parallel = 2

  @Flag(name: [.short, .long], help: "Show no progress.")
  var quiet = false

  private static func zone(_ text: String) throws -> PhotoTimeZone {
    guard let zone = try? PhotoTimeZone(text) else {
      throw ValidationError(
        "--time-zone: \(text.printable) is neither like +02:00, -0330 or Z, nor a zone of this system")
    }
    return zone
  }

  func validate() throws {
    guard (1...16).contains(parallel) else {
      throw ValidationError("--parallel: \(parallel) is not in 1 to 16")
    }
  }

  func run() throws {
    Interruption.installHandlers()
    let options = ScanOptions(
      timeZone: timeZone, deleteMissing: deleteMissing, forceRehash: forceRehash,
      parallel: parallel, exclude: exclude.joined(separator: "\n"), allowMassDeletion: allowMassDeletion,
      embeddedDatesOnly: embeddedDatesOnly)
    try creation.check(arguments.directory)
    let report = try arguments.withCatalogue(writing: true, creating: creation.create) { photos in
      let bar = Mutex(Progress(isQuiet: quiet))
      defer { bar.withLock { $0.clear() } }
      return try photos.scan(options: options) { progress in
        bar.withLock { Self.show(progress, in: &$0) }
        return !Interruption.isRequested
      }
    }
    try printReport(report)
    if report.isCancelled { Interruption.raiseSignal() }
    if report.skippedCount > report.skippedLinksCount { throw Terminal.attention }
  }

  private static func show(_ progress: ScanProgress, in bar: inout Progress) {
    switch progress.phase {
    case .walking: bar.show(Int(progress.filesFound), of: nil, note: "looking for photos")
    case .reading:
      let total = progress.filesTotal.map { Int($0) }
      bar.show(Int(progress.filesDone), of: total, note: Terminal.bytes(progress.bytesDone))
    }
  }

  private func printReport(_ report: ScanReport) throws {
    let output = try Output()
    if arguments.json {
      try output.put(report.json.plainText + "\n")
    } else {
      for path in report.missing { try output.put("missing: \(path.printable)\n") }
      for remark in report.remarks {
        try output.put("\(remark.path.printable): \(remark.reason.printable)\n")
      }
      for skipped in report.skipped {
        try output.put("skipped: \(skipped.path.printable): \(skipped.reason.printable)\n")
      }
      if !report.others.isEmpty {
        let others = report.others.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
        try output.put("not read: \(others.map { "\($0.value) \($0.key)" }.joined(separator: ", "))\n")
      }
      try output.put(Self.table(report) + Self.summary(report) + "\n")
    }
    try output.finish()
    for library in report.missingLibraries {
      Terminal.printError(
        "\(library.printable) is not installed: sizes and camera data of new photos stay unknown")
    }
    if report.isCancelled { Terminal.printError("interrupted: the photos found so far are kept") }
  }

  /// Returns a table of the formats that were read; empty when nothing was.
  private static func table(_ report: ScanReport) -> String {
    guard !report.formats.isEmpty else { return "" }
    let rows = report.formats.sorted { $0.key < $1.key }.map { format, count in
      [format.isEmpty ? "(no suffix)" : format, "\(count.files)", "\(count.dated)", "\(count.sized)"]
    }
    return Terminal.table([["format", "read", "dated", "sized"]] + rows) + "\n"
  }

  private static func summary(_ report: ScanReport) -> String {
    var parts = [
      "\(report.added) added", "\(report.changed) changed", "\(report.unchanged) unchanged",
      "\(report.missingCount) missing",
    ]
    if report.returned > 0 { parts.append("\(report.returned) returned") }
    if report.hidden > 0 { parts.append("\(report.hidden) hidden") }
    if report.removed > 0 { parts.append("\(report.removed) removed") }
    if report.duplicatesCount > 0 { parts.append("\(report.duplicatesCount) duplicate") }
    if report.skippedCount > 0 { parts.append("\(report.skippedCount) skipped") }
    if report.films > 0 { parts.append("\(report.films) films") }
    if report.sidecars > 0 { parts.append("\(report.sidecars) sidecars") }
    if report.excluded > 0 { parts.append("\(report.excluded) left out") }
    if let dated = report.dateSources[.file], dated > 0 { parts.append("\(dated) dated by their file") }
    return "\(parts.joined(separator: ", ")); \(Terminal.bytes(report.bytesRead)) read"
  }
}
