import Satchel

/// The HTML page of `satchel story report`: one file without external resources.
struct StoryReportPage {
  let stories: [ReportStory]
  let title: String

  /// The maximum number of findings listed for one story.
  private static let maxFindings = 100

  func write(to output: Output) throws {
    try output.put(frame.head + summary + table)
    for (index, story) in stories.enumerated() { try output.put(section(story, index)) }
    try output.put(frame.foot)
  }

  private var frame: PageFrame {
    PageFrame(title: title, script: PageFrame.Script(text: ReportScript.text, hash: ReportScript.hash))
  }

  private var summary: String {
    let errors = stories.reduce(0) { $0 + $1.errors }
    let warnings = stories.reduce(0) { $0 + $1.warnings }
    return """
      <p>\(Terminal.count(stories.count, "story", plural: "stories")), \(Terminal.count(errors, "error")), \
      \(Terminal.count(warnings, "warning")).</p>
      <p class="search" hidden><label for="search">Search</label>
      <input id="search" type="search" autocomplete="off" spellcheck="false" \
      placeholder="title, author, culture, tag, code of a finding">
      <span id="shown" role="status"></span></p>

      """
  }

  // MARK: - The table

  private static let columns =
    ["Title", "Author", "Culture", "Age"].map { PageTable.Column(title: $0) }
    + ["Segments", "Endings", "Words", "Minutes", "Paths", "Errors", "Warnings"].map {
      PageTable.Column(title: $0, isNumber: true)
    }

  private var table: String {
    var table = PageTable("All stories", id: "stories", Self.columns)
    for (index, story) in stories.enumerated() {
      let attributes = "data-story=\"\(index)\" data-search=\"\(HTML.escaped(searchText(of: story)))\""
      let heading = "<a href=\"#story-\(index)\">\(HTML.escaped(story.title))</a>"
      table.add(heading, cells(story), attributes: attributes)
    }
    return table.html
  }

  private func cells(_ story: ReportStory) -> [PageTable.Cell] {
    let facts = story.statistics
    let texts = [story.header?.author, story.header?.culturalOrigin, story.header?.ageRange]
    let order = facts.map { $0.paths == .unbounded ? "Infinity" : "\($0.paths.saturated)" } ?? ""
    return texts.map { .text($0 ?? "") }
      + [facts?.segments, facts?.endings, facts?.words].map { .number($0) }
      + [
        .text(facts.map { PathText.minutes($0.longestMinutes) } ?? ""),
        PageTable.Cell(html: HTML.escaped(story.paths?.text ?? ""), order: order),
        .number(story.errors), .number(story.warnings),
      ]
  }

  /// The text that the page's search matches.
  private func searchText(of story: ReportStory) -> String {
    let header = story.header
    let codes = Set(story.findings.map(\.code.rawValue)).sorted()
    let texts = [
      story.title, header?.id, header?.author, header?.originalSource, header?.culturalOrigin,
      header?.synopsis,
      header?.ageRange, story.file,
    ]
    return (texts.compactMap { $0 } + (header?.tags ?? []) + codes).joined(separator: " ")
  }

  // MARK: - A story

  private func section(_ story: ReportStory, _ index: Int) -> String {
    let synopsis = story.header?.synopsis.map { "<p dir=\"auto\">\(HTML.escaped($0))</p>\n" } ?? ""
    return HTML.section(
      story.title, id: "story-\(index)",
      HTML.file(story.file) + synopsis + facts(story) + findings(story) + graph(story))
  }

  private func facts(_ story: ReportStory) -> String {
    guard let header = story.header, let facts = story.statistics else { return "" }
    let minutes = "\(PathText.minutes(facts.shortestMinutes))–\(PathText.minutes(facts.longestMinutes))"
    return HTML.facts([
      ("Id", header.id), ("Author", header.author), ("Source", header.originalSource),
      ("Culture", header.culturalOrigin), ("Age", header.ageRange),
      ("Tags", header.tags.isEmpty ? nil : header.tags.joined(separator: ", ")),
      ("Segments", "\(facts.segments)"), ("Choices", "\(facts.choices)"), ("Endings", "\(facts.endings)"),
      ("Words", "\(facts.words)"), ("Minutes", minutes),
      ("Minutes, as the file says", header.estimatedReadingMinutes.map { "\($0)" }),
      ("Shortest reading", facts.shortestPath.map { Terminal.count($0, "segment") }),
      ("Longest reading", facts.longestPath.map { Terminal.count($0, "segment") }),
      ("Paths", story.paths?.text),
    ])
  }

  private func findings(_ story: ReportStory) -> String {
    guard !story.findings.isEmpty else { return "<p>No findings.</p>\n" }
    let items = story.findings.prefix(Self.maxFindings).map { finding in
      let hint = finding.suggestion.map { "; did you mean “\($0)”?" } ?? ""
      let text = HTML.escaped(finding.message + hint)
      let severity = finding.severity.rawValue
      return """
        <li class="\(severity)"><strong>\(severity)</strong> line \(finding.position.line), \
        column \(finding.position.column): <bdi>\(text)</bdi> <code>\(finding.code.rawValue)</code></li>

        """
    }
    let rest = HTML.more(than: items.count, of: story.findings.count, listedBy: "story lint")
    return "<h3>Findings</h3>\n<ul class=\"findings\">\n\(items.joined())</ul>\n\(rest)"
  }

  private func graph(_ story: ReportStory) -> String {
    if let picture = story.picture {
      return "<details open><summary>Graph</summary><div class=\"graph\">\(picture)</div></details>\n"
    }
    return story.note.map(HTML.note) ?? ""
  }
}
