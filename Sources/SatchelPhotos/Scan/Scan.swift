import SatchelCore
import SatchelStorage

/// A running scan: executes a plan, and writes the results.
struct Scan {
  /// The number of files in a transaction, and the maximum time in milliseconds that results wait for one.
  private static let batch = 500
  private static let maxDelay: Int64 = 2000

  private let catalogue: PhotoCatalogue
  private let found: PhotoFindings
  private let options: ScanOptions
  private var plan: ScanPlan
  private var firsts: [MD5: Int]
  private var paths: PhotoPaths
  private var report = ScanReport()
  private var hasRead = false

  init(_ catalogue: PhotoCatalogue, found: PhotoFindings, known: [KnownFile], options: ScanOptions) {
    self.catalogue = catalogue
    self.found = found
    self.options = options
    plan = ScanPlan(known: known, found: found, forceRehash: options.forceRehash)
    firsts = plan.firsts()
    paths = PhotoPaths(found.tree)
    for item in found.skipped { report.skip(String(decoding: item.path, as: UTF8.self), item.reason) }
  }

  /// Returns the files that have to be read next.
  mutating func next() -> [Int] {
    defer { hasRead = true }
    return hasRead ? plan.successors() : plan.toRead
  }

  // MARK: Reading

  /// Reads files and writes the results into the catalogue.
  ///
  /// - Returns: false when the caller cancelled
  mutating func read(
    _ numbers: [Int], in root: PhotoRoot, libraries: () -> ImageLibraries,
    _ progress: ((ScanProgress) -> Bool)?
  ) throws -> Bool {
    guard !numbers.isEmpty else { return true }
    let files = numbers.map { found.entries[$0] }
    let (tree, zone, libraries) = (found.tree, options.timeZoneOffset, libraries())
    report.missingLibraries = libraries.missing
    let readers = try PhotoReaders(files, parallel: options.parallel) {
      PhotoFileReader(tree, in: root, zone: zone, libraries: libraries)
    }
    defer { readers.files.stop() }
    let before = report.bytesRead
    let total = files.reduce(Int64(0)) { $0 + min($1.size, .max - $0) }
    var written = Clock.monotonic.now()
    while !readers.files.isFinished {
      let isReady = readers.files.wait(for: Self.batch, milliseconds: 50)
      let done = readers.done
      report.bytesRead = before + done.bytes
      let isWanted =
        progress?(
          ScanProgress(
            phase: .reading, filesFound: Int64(found.entries.count), filesDone: Int64(done.files),
            filesTotal: Int64(files.count), bytesDone: done.bytes, bytesTotal: total)) ?? true
      if isReady || !isWanted || Clock.monotonic.now() - written >= Self.maxDelay {
        // When cancelled, all results that are ready are written: these files need not be read again.
        try write(readers.files.popOutcomes(limit: isWanted ? Self.batch : .max), numbers)
        written = Clock.monotonic.now()
      }
      if !isWanted { return false }
    }
    return true
  }

  private mutating func write(_ part: (first: Int, outcomes: [PhotoReaders.Outcome]), _ numbers: [Int]) throws
  {
    guard !part.outcomes.isEmpty else { return }
    try catalogue.write { transaction, id in
      let table = FileTable(connection: transaction.connection, catalogue: id)
      var rows: [ScanRow] = []
      for (offset, outcome) in part.outcomes.enumerated() {
        let number = numbers[part.first + offset]
        let entry = found.entries[number]
        let path = paths.bytes(entry)
        switch outcome {
        case .failure(let fault):
          plan.skip(number)
          report.skip(String(decoding: path, as: UTF8.self), fault.reason)
        case .success(let photo):
          try table.put(path, photo)
          if let known = plan.files[number].known, known.md5 != photo.md5 { try table.markMissing(known) }
          // Stays so for a duplicate, which the report counts as such.
          plan.recordRead(number, photo.md5, isChanged: true)
          report.addRead(photo.facts)
          if let remark = photo.facts.remark { report.remark(String(decoding: path, as: UTF8.self), remark) }
          if isFirst(number, photo.md5) {
            rows.append(ScanRow(number: number, name: entry.name, scanned: photo))
          }
        }
      }
      try catalogue.importScanned(rows, in: transaction, id, isOwn: { plan.seen.contains($0) }) {
        row, isChanged in
        plan.recordRead(row.number, row.scanned.md5, isChanged: isChanged)
      }
    }
  }

  private mutating func isFirst(_ number: Int, _ md5: MD5) -> Bool {
    if let first = firsts[md5], first < number { return false }
    firsts[md5] = number
    return true
  }

  // MARK: Ending

  /// Finds photos whose files were removed, once all files were read.
  mutating func finish() throws {
    let existing = plan.existing()
    let gone = plan.gone
    let missing = gone.filter { !existing.contains($0.md5) }
    for file in missing { report.addMissing(String(decoding: file.path, as: UTF8.self)) }
    let moved = gone.filter { existing.contains($0.md5) }
    let (unmarked, removes) = (missing.contains { !$0.isMissing }, options.deleteMissing && !missing.isEmpty)
    guard !moved.isEmpty || unmarked || removes else { return }
    report.removed = try catalogue.write { transaction, id in
      let table = FileTable(connection: transaction.connection, catalogue: id)
      for file in moved { try table.remove(file) }
      guard removes else {
        for file in missing where !file.isMissing { try table.markMissing(file) }
        return 0
      }
      for file in missing { try table.remove(file) }
      // Another scan may have found the files since.
      let wanted = Set(missing.map(\.md5))
      return Int64(try catalogue.delete(Array(wanted.subtracting(table.existing(among: wanted)))))
    }
  }

  /// Returns the report.
  mutating func report(isCancelled: Bool) -> ScanReport {
    report.isCancelled = isCancelled
    let firsts = plan.firsts()
    for (number, file) in plan.files.enumerated() {
      guard let md5 = file.md5, file.state != .skipped, file.state != .toRead else { continue }
      if let first = firsts[md5], first != number {
        report.addDuplicate(
          ScanReport.Duplicate(
            path: paths.text(found.entries[number]), first: paths.text(found.entries[first]), md5: md5))
        continue
      }
      switch file.state {
      case .added: report.added += 1
      case .changed: report.changed += 1
      case .unchanged: report.unchanged += 1
      case .toRead, .skipped: break
      }
    }
    return report
  }
}
