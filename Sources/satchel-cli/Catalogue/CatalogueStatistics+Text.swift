import Satchel

extension CatalogueStatistics {
  /// The content that offline regions keep, in words: "2 regions: 3 sections and 40 entities, 12.1 kB, with assets of
  /// 3.4 MB"; nil without regions.
  var regionsText: String? {
    guard regions > 0 else { return nil }
    let content = """
      \(Terminal.count(regions, "region")): \(Terminal.count(pinnedSections, "section")) and \
      \(Terminal.count(pinnedEntities, "entity", plural: "entities")), \(Terminal.bytes(pinnedBytes))
      """
    return content + (pinnedAssetBytes > 0 ? ", with assets of \(Terminal.bytes(pinnedAssetBytes))" : "")
  }

  /// How old the content is, and which part of the requests fails, in words: "oldest content of 2026-06-01 12:00; 1 of 3
  /// requests failed"; nil for a catalogue without content and requests.
  var freshnessText: String? {
    let parts = [
      oldestFetchedAt.map { "oldest content of \(Terminal.time($0))" },
      failedRequests > 0 ? "\(failedRequests) of \(Terminal.count(requests, "request")) failed" : nil,
    ].compactMap { $0 }
    return parts.isEmpty ? nil : parts.joined(separator: "; ")
  }
}
