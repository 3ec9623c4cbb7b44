import Satchel

/// The HTML page of `satchel report`.
struct StoreReportPage {
  let report: StoreReport
  let title: String

  private typealias Column = PageTable.Column
  private typealias Cell = PageTable.Cell

  /// The maximum number of findings listed.
  private static let maxFindings = 200
  /// The maximum number of requests that failed.
  private static let maxRequests = 200
  /// The maximum number of characters of a value that are shown.
  private static let maxText = 300

  func write(to output: Output) throws {
    let frame = PageFrame(title: title)
    try output.put(frame.head + summary + check)
    try output.put(section("Places", of: report.places, places))
    try output.put(section("Regions", of: report.regions, regions))
    try output.put(section("Freshness", of: report.failedRequests, freshness))
    try output.put(section("Photos", of: report.albums, albums))
    try output.put(section("Collections", of: report.collections, collections))
    try output.put(section("State", of: report.state, state))
    try output.put(section("Assets", of: report.assets, assets))
    try output.put(section("Syncs", of: report.syncStatus, syncs))
    try output.put(section("Space", of: report.statistics, space))
    try output.put(frame.foot)
  }

  // MARK: Parts of the page

  private var summary: String {
    let info = report.info
    let facts = """
      \(Terminal.bytes(info.fileBytes)), read \(Terminal.time(report.time)) UTC by satchel \(Store.version) \
      (SQLite \(info.sqliteVersion))
      """
    let names = [
      "Places", "Regions", "Freshness", "Photos", "Collections", "State", "Assets", "Syncs", "Space",
    ]
    let links = names.map {
      "<li><a href=\"#\($0.lowercased())\">\($0)</a></li>"
    }
    return """
      <p class="file">\(HTML.escaped(info.path)): \(HTML.escaped(facts))</p>
      <nav aria-label="Sections"><ul>\(links.joined())</ul></nav>

      """
  }

  private var check: String {
    let findings = report.findings
    guard !findings.isEmpty else {
      return "<p class=\"state sound\">The check found no damage.</p>\n"
    }
    let items = findings.prefix(Self.maxFindings).map {
      "<li class=\"error\"><code>\(HTML.escaped($0.code))</code> <bdi>\(HTML.escaped($0.message))</bdi></li>\n"
    }
    let rest = HTML.more(than: items.count, of: findings.count, listedBy: "store check")
    return """
      <p class="state damaged">The check has \(Terminal.count(findings.count, "finding")).</p>
      <ul class="findings">
      \(items.joined())</ul>
      \(rest)
      """
  }

  /// A section about a part of the store, or the reason why it cannot be read.
  private func section<Value>(
    _ title: String, of part: StoreReport.Part<Value>, _ content: (Value) -> String
  ) -> String {
    let body =
      switch part {
      case .read(let value): content(value)
      case .unreadable(let reason):
        "<p class=\"error\"><strong>cannot be read</strong> \(HTML.escaped(reason))</p>\n"
      }
    return HTML.section(title, id: title.lowercased(), body)
  }

  private func time(_ milliseconds: Int64?) -> String {
    milliseconds.map { "\(Terminal.time($0)) UTC" } ?? "–"
  }

  // MARK: Places

  private func places(_ places: StoreReport.Places) -> String {
    guard !places.shown.isEmpty else { return HTML.note("Nothing was delivered for a place.") }
    return places.shown.map(place).joined()
      + HTML.more(than: places.shown.count, of: places.count, listedBy: "catalogue show")
  }

  private func place(_ place: StoreReport.Place) -> String {
    let context = place.context
    let name = HTML.escaped(context.location.name)
    var table = PageTable(
      "Sections of \(name)",
      [
        Column(title: "Section"), Column(title: "Fresh", isNumber: true),
        Column(title: "Expired", isNumber: true), Column(title: "Missing", isNumber: true),
        Column(title: "Next to expire"), Column(title: "Delivered"),
      ])
    table.isCaptionHidden = true
    for section in place.sections {
      let name = "<code>\(HTML.escaped(section.name))</code>"
      let heading = section.title.map { "<bdi>\(HTML.escaped($0))</bdi> \(name)" } ?? name
      table.add(
        heading,
        [
          .number(section.fresh), .number(section.expired), .number(section.missing),
          .text(time(section.expires)), .text(time(section.updated)),
        ])
    }
    let remarks = [
      place.isActive ? "the active location" : nil, context.isComplete ? "delivered as complete" : nil,
      Terminal.count(context.entityCount, "entity", plural: "entities"), Terminal.bytes(context.bytes),
    ]
    return """
      <h3 dir="auto">\(name)</h3>
      <p class="note">\(remarks.compactMap { $0 }.joined(separator: ", "))</p>
      \(place.sections.isEmpty ? "" : table.html)
      """
  }

  // MARK: Regions and freshness

  private func regions(_ regions: [RegionSummary]) -> String {
    guard !regions.isEmpty else { return HTML.note("There are no offline regions.") }
    var table = PageTable(
      "Offline regions",
      [
        Column(title: "Region"), Column(title: "State"), Column(title: "Entities", isNumber: true),
        Column(title: "Assets", isNumber: true), Column(title: "Here", isNumber: true),
        Column(title: "Downloaded"),
      ])
    for region in regions {
      let size = region.size
      table.add(
        HTML.escaped(region.name),
        [
          .text(region.state.rawValue), .number(size.entities), .number(size.assets),
          .text(Terminal.bytes(size.totalBytes)), .text(time(region.downloadedAt)),
        ])
    }
    return table.html
  }

  private func freshness(_ failed: [FailedRequest]) -> String {
    let catalogue = report.statistics.value?.catalogue
    guard catalogue?.freshnessText != nil || !failed.isEmpty else {
      return HTML.note("There is no content, and no request failed.")
    }
    let facts = HTML.facts([
      ("Oldest content", time(catalogue?.oldestFetchedAt)),
      ("Requests", catalogue.map { "\($0.requests)" }), ("Failed", "\(failed.count)"),
    ])
    guard !failed.isEmpty else { return facts }
    var table = PageTable(
      "Requests that fail",
      [
        Column(title: "Location"), Column(title: "Section"), Column(title: "Message"),
        Column(title: "Next attempt"),
      ])
    for request in failed.prefix(Self.maxRequests) {
      table.add(
        HTML.escaped(request.place),
        [
          .text(request.section ?? "all"), .text(Self.short(request.message)), .text(time(request.retryAt)),
        ])
    }
    let rest = failed.count - Self.maxRequests
    return facts + table.html + (rest > 0 ? HTML.note("And \(rest) more.") : "")
  }

  // MARK: Photos

  private func albums(_ albums: [StoreReport.Album]) -> String {
    albums.isEmpty ? HTML.note("There are no photo catalogues.") : albums.map(album).joined()
  }

  private func album(_ album: StoreReport.Album) -> String {
    let status = album.status
    let backups = BackupStatus.allCases.compactMap { backup in
      status.backups[backup].map { $0 > 0 ? "\($0) \(backup.label)" : nil } ?? nil
    }
    let facts = HTML.facts([
      ("Photos", "\(status.photos)"), ("Starred", "\(album.starred)"),
      ("Changes to upload", "\(status.changes)"), ("Conflicts", "\(status.conflicts)"),
      ("Backups", backups.isEmpty ? "–" : backups.joined(separator: ", ")),
      ("Without a backup", "\(album.safety.photos - album.safety.backedUp)"),
      ("Trash", "\(album.safety.trash)"),
      ("Last sync", time(status.lastSync)), ("User", status.user ?? "–"),
    ])
    return """
      <h3 dir="auto">\(HTML.escaped(status.directory))</h3>
      \(facts)\(periods(album))
      """
  }

  /// A bar for each month or year.
  private func periods(_ album: StoreReport.Album) -> String {
    guard let most = album.periods.map(\.count).max(), let first = album.periods.first else { return "" }
    let unit = first.name.utf8.count == 4 ? "Year" : "Month"
    var table = PageTable(
      "Photos by \(unit.lowercased())",
      [Column(title: unit), Column(title: "Photos", isNumber: true), Column(title: "")])
    for (name, count) in album.periods {
      let width = max(1, 1000 * count / most)
      let bar = """
        <svg class="bar" viewBox="0 0 1000 10" preserveAspectRatio="none" aria-hidden="true">\
        <rect width="\(width)" height="10"></rect></svg>
        """
      table.add(HTML.escaped(name), [.number(count), Cell(html: bar)])
    }
    return table.html
  }

  // MARK: Records and state

  private func collections(_ collections: [CollectionInfo]) -> String {
    guard !collections.isEmpty else { return HTML.note("There are no collections of records.") }
    var table = PageTable(
      "Collections of records",
      [
        Column(title: "Collection"), Column(title: "Records", isNumber: true),
        Column(title: "Documents", isNumber: true), Column(title: "To upload", isNumber: true),
        Column(title: "Conflicts", isNumber: true), Column(title: "Sync"), Column(title: "Encrypted fields"),
        Column(title: "Version", isNumber: true),
      ])
    for collection in collections {
      let sizes = report.statistics.value?.collections.first {
        $0.name.utf8.elementsEqual(collection.name.utf8)
      }
      table.add(
        HTML.escaped(collection.name),
        [
          .number(collection.count), .text(sizes.map { Terminal.bytes($0.bytes) } ?? "–"),
          .number(sizes?.pending), .number(sizes?.conflicts),
          .text(collection.isSynced ? collection.onConflict.rawValue : "not synchronized"),
          .text(collection.sensitive.joined(separator: ", ")), .number(collection.version),
        ])
    }
    return table.html
  }

  private func state(_ state: StoreReport.State) -> String {
    guard !state.shown.isEmpty else { return HTML.note("There are no values.") }
    var table = PageTable("Values", [Column(title: "Key"), Column(title: "Value")])
    for value in state.shown {
      let shown = value.text.map { "<code>\(HTML.escaped(Self.short($0)))</code>" } ?? "encrypted, not shown"
      table.add(HTML.escaped(value.key), [Cell(html: shown)])
    }
    return table.html + HTML.more(than: state.shown.count, of: state.count, listedBy: "state list")
  }

  private static func short(_ text: String) -> String {
    let start = text.unicodeScalars.prefix(maxText)
    return start.endIndex == text.unicodeScalars.endIndex ? text : "\(String(start)) …"
  }

  // MARK: Assets

  private func assets(_ assets: AssetStatistics) -> String {
    guard assets != AssetStatistics() else { return HTML.note("There are no assets.") }
    let tallies = [
      ("Here", assets.here), ("Of them in the folder", assets.files), ("Of them variants", assets.variants),
      ("In the remote or at a URL only", assets.remote), ("Missing", assets.missing),
      ("Waiting uploads", assets.waiting),
    ]
    var table = PageTable(
      "Assets",
      [
        Column(title: "Assets"), Column(title: "Number", isNumber: true),
        Column(title: "Size", isNumber: true),
      ])
    for (name, tally) in tallies {
      table.add(name, [.number(tally.count), .text(Terminal.bytes(tally.bytes))])
    }
    return table.html
  }

  // MARK: Syncs and space

  private func syncs(_ status: StoreSyncStatus) -> String {
    var rows: [(name: String, cells: [Cell])] = []
    if let remote = status.remote {
      rows.append(
        (
          "Records and state",
          [.text(remote), .text(status.user ?? ""), .text(time(status.lastSync)), .number(status.pending)]
        ))
    }
    for album in report.albums.value ?? [] where album.status.lastSync != nil {
      let status = album.status
      rows.append(
        (
          "Photos in \(status.directory)",
          [
            .text(status.remoteUUID ?? ""), .text(status.user ?? ""), .text(time(status.lastSync)),
            .number(Int(status.changes)),
          ]
        ))
    }
    guard !rows.isEmpty else { return HTML.note("The store was not synchronized.") }
    var table = PageTable(
      "Remotes",
      [
        Column(title: "What"), Column(title: "Remote"), Column(title: "User"), Column(title: "Last sync"),
        Column(title: "Changes to upload", isNumber: true),
      ])
    for (name, cells) in rows { table.add(HTML.escaped(name), cells) }
    return table.html
  }

  private func space(_ statistics: StoreStatistics) -> String {
    var table = PageTable(
      "Subjects",
      [Column(title: "Subject"), Column(title: "Contents"), Column(title: "Size", isNumber: true)])
    for subject in statistics.subjects {
      table.add(
        HTML.escaped(subject.name),
        [
          .text(statistics.countsText(of: subject)),
          .text(subject.bytes.map(Terminal.bytes) ?? "–"),
        ])
    }
    let free = Terminal.bytes(Int64(statistics.freePages) * statistics.pageSize)
    let spooled = statistics.spooled + statistics.outboxDamages.count + statistics.rejected
    let outbox =
      spooled == 0
      ? "" : HTML.note("The outbox file has changes that are not in the store: see satchel store stats.")
    return table.html + HTML.note("\(free) of \(Terminal.bytes(statistics.fileBytes)) are free.") + outbox
  }
}
