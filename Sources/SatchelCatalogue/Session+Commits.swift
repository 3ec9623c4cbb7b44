import SatchelCore
import SatchelStorage

/// How a session reads the store, and follows its commits.
extension Session {
  /// The number of times that something is read again because another thread has shown a newer state of the store. After
  /// it the store itself must have become an older one: a copy was restored.
  private static var maxReads: Int { 16 }

  /// Reads the headers of a location's sections and the content of some, and shows them.
  ///
  /// It is never older than what is shown already: otherwise it is read again.
  ///
  /// - Parameters:
  ///   - section: only this section, without the headers of others; nil for all
  ///   - wanting: whether to read the content of a section
  ///   - apply: shows it; called once, with `lock` held
  func update(
    _ location: Location, section: String? = nil, wanting: (SectionHeader) -> Bool = { _ in false },
    _ apply: (ScreenRead) -> Void
  ) throws {
    let inheritance = try Inheritance(nearby: nearby)
    for number in 1...Self.maxReads {
      let read = try catalogue.reading(location) { reader in
        try section.map { try reader.screen(of: $0, inheritance) }
          ?? reader.screen(inheritance, wanting: wanting)
      }
      if !isTextual { for content in read.contents { _ = content.content } }
      let isShown = lock.withLock {
        guard read.revision >= screen.revision || number == Self.maxReads else { return false }
        screen.revision = read.revision
        apply(read)
        return true
      }
      if isShown { return }
    }
  }

  /// Reads a section that the host asked for, on the session's thread.
  func read(_ section: String, at location: Location, generation: Int) {
    do {
      try update(location, section: section) { read in
        guard generation == screen.generation else { return }
        if let content = read.contents.first {
          screen.set(section, to: .loaded(content))
        } else if let failure = read.failures.first {
          screen.set(section, to: .failed(reason: failure.reason))
        } else if !asksSource {
          screen.set(section, to: .failed(reason: "nothing is stored for the section"))
        }
      }
      deliver()
    } catch {
      set(section, to: .failed(reason: "\(error)"), generation: generation)
    }
  }

  // MARK: Commits

  /// Follows the commits of all handles, from the first location on.
  func follow() throws {
    if lock.withLock({ subscription != nil }) { return }
    let new = try catalogue.database.observe { [weak self] in self?.note($0) }
    let isUsed = lock.withLock {
      guard subscription == nil, !screen.isEnded else { return false }
      subscription = new
      return true
    }
    if !isUsed { new.cancel() }
  }

  private func note(_ change: Change) {
    guard change.subject == .catalogue else { return }
    if news.withLock({ $0.add(change) }) { requestRefresh() }
  }

  func requestRefresh() {
    do {
      try worker.add { [weak self] in self?.showCommits() }
    } catch {
      // A thread that cannot be started is tried again by the next commit.
      news.withLock { $0.giveUp() }
    }
  }

  /// Shows what commits have changed. What cannot be read now stays as it is, until the next commit.
  func showCommits() {
    let news = news.withLock { $0.take() }
    let (shown, generation, sections) = lock.withLock {
      (screen.location, screen.generation, screen.sections)
    }
    guard let location = shown else { return }
    var isBehind = false
    do {
      try update(location, wanting: { news.wants($0, of: sections) }) { read in
        guard generation == screen.generation else { return }
        let headers = read.headers ?? []
        screen.merge(headers)
        for content in read.contents { screen.refresh(content) }
        // A call may have shown an older content of a section that was not asked for before.
        let unread = screen.sections.filter { section in
          section.state != .placeholder
            && !sections.contains { $0.state != .placeholder && $0.name.hasSameBytes(as: section.name) }
        }
        isBehind = unread.contains { section in headers.contains { news.wants($0, of: [section]) } }
      }
    } catch {
      self.news.withLock { $0.giveUp() }
    }
    deliver()
    if isBehind, self.news.withLock({ $0.addAll() }) { requestRefresh() }
  }
}

/// The sections of a screen in one read transaction.
struct ScreenRead {
  /// That of the newest commit that it has.
  var revision: Int64
  var cached: Catalogue.Cached?
  /// Nil when one section was asked for.
  var headers: [SectionHeader]?
  var contents: [Section] = []
  /// Sections that cannot be read, and why.
  var failures: [(section: String, reason: String)] = []
}

extension SectionReader {
  /// Reads the headers of all visible sections, and the content of those that are wanted.
  func screen(_ inheritance: Inheritance, wanting: (SectionHeader) -> Bool) throws -> ScreenRead {
    var read = ScreenRead(revision: try ChangeLog.newest(connection))
    let finder = try self.finder(inheritance)
    let found = try finder.all()
    note(found)
    read.cached = finder.isExact ? .exact : found.isEmpty ? nil : .inherited
    var headers: [SectionHeader] = []
    headers.reserveCapacity(found.count)
    for section in found {
      let header = try section.header(at: now())
      headers.append(header)
      if wanting(header) { add(section, to: &read) }
    }
    read.headers = headers
    return read
  }

  /// Reads one section.
  func screen(of name: String, _ inheritance: Inheritance) throws -> ScreenRead {
    var read = ScreenRead(revision: try ChangeLog.newest(connection))
    if let found = try visibleSection(name, inheritance) { add(found, to: &read) }
    return read
  }

  private func add(_ found: VisibleSection, to read: inout ScreenRead) {
    do {
      guard let rendered = try render(found, allowsExpired: true) else { return }
      read.contents.append(try Section(unparsed: rendered, found, at: now()))
    } catch {
      read.failures.append((found.record.name, "\(error)"))
    }
  }
}
