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
  private let companions: ScanCompanions
  private var plan: ScanPlan
  private var firsts: [MD5: Int]
  private var paths: PhotoPaths
  private var report = ScanReport()
  private var hasRead = false

  /// - Parameters:
  ///   - known: the files of earlier scans
  ///   - present: those of their photos that the catalogue has
  init(
    _ catalogue: PhotoCatalogue, found: PhotoFindings, known: [KnownFile], present: Set<MD5>,
    options: ScanOptions
  ) {
    self.catalogue = catalogue
    self.found = found
    self.options = options
    companions = ScanCompanions(known: known, found: found)
    plan = ScanPlan(known: known, present: present, found: found, forceRehash: options.forceRehash)
    firsts = plan.firsts()
    paths = PhotoPaths(found.tree)
    report.countFound(found)
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
    _ numbers: [Int], in root: PhotoRoot, _ progress: ((ScanProgress) -> Bool)?
  ) throws -> Bool {
    guard !numbers.isEmpty else { return true }
    let files = numbers.map { found.entries[$0] }
    let (tree, options) = (found.tree, options)
    let readers = try PhotoReaders(files, parallel: options.parallel) {
      PhotoFileReader(tree, in: root, options: options)
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
          let isHidden = plan.isHidden(photo.md5)
          try table.put(photo.file(path, isHidden: isHidden))
          if let known = plan.files[number].known, known.md5 != photo.md5 {
            try table.markMissing(known, replacement: plan.replacement(of: known, by: photo.md5))
          }
          // Stays so for a duplicate, which the report counts as such.
          plan.recordRead(number, photo.md5, isChanged: true)
          report.addRead(photo.facts, named: entry.name)
          if let remark = photo.facts.remark { report.remark(String(decoding: path, as: UTF8.self), remark) }
          if !isHidden, isFirst(number, photo.md5) {
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
  ///
  /// - Throws: `.unavailable` where more photos would be deleted than an accident may cost
  mutating func finish() throws {
    let existing = plan.existing()
    let gone = plan.gone.compactMap { file in file.md5.map { (md5: $0, file: file) } }
    let (moved, lost) = (
      gone.filter { existing.contains($0.md5) }, gone.filter { !existing.contains($0.md5) }
    )
    let edited = lost.filter { $0.file.replacement != nil }
    let missing = lost.filter { $0.file.replacement == nil }
    for (_, file) in missing { report.addMissing(String(decoding: file.path, as: UTF8.self)) }
    let (unmarked, removes) = (
      missing.contains { !$0.file.isMissing }, options.deleteMissing && !missing.isEmpty
    )
    if removes { try checkDeletion(of: Set(missing.map(\.md5)).count) }
    guard
      !moved.isEmpty || !edited.isEmpty || unmarked || removes || !companions.isUpToDate
        || !plan.shown.isEmpty
    else { return }
    report.removed = try catalogue.write { transaction, id in
      let table = FileTable(connection: transaction.connection, catalogue: id)
      try companions.write(into: table) { plan.files[$0].md5 }
      for md5 in plan.shown { try table.show(md5) }
      for (_, file) in moved { try table.remove(file) }
      for (md5, file) in edited {
        try table.remove(file)
        if let replacement = file.replacement { try catalogue.passOn(md5, to: replacement) }
      }
      // Another scan may have found the files since.
      func withoutFile(_ photos: [MD5]) throws -> [MD5] {
        let wanted = Set(photos)
        return Array(wanted.subtracting(try table.existing(among: wanted)))
      }
      _ = try catalogue.delete(withoutFile(edited.map(\.md5)))
      guard removes else {
        for (_, file) in missing where !file.isMissing { try table.markMissing(file) }
        return 0
      }
      for (_, file) in missing { try table.remove(file) }
      return Int64(try catalogue.delete(withoutFile(missing.map(\.md5))))
    }
  }

  /// The number of photos that a scan may delete, however few are left.
  private static let maxDeleted = 100

  private func checkDeletion(of count: Int) throws {
    guard !options.allowMassDeletion, count > Self.maxDeleted else { return }
    let all = try catalogue.count()
    guard Int64(count) > all / 2 else { return }
    throw SatchelError(
      .unavailable,
      "\(catalogue.directory): the files of \(count) of \(all) photos are gone, and nothing was deleted: "
        + "allow_mass_deletion deletes their rows")
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
      case .returned: report.returned += 1
      case .hidden: report.hidden += 1
      case .toRead, .skipped: break
      }
    }
    return report
  }
}
