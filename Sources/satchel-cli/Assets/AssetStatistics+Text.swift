import Satchel

extension AssetStatistics {
  /// The counts in words; nil for a store without assets. After those that are here, only what there is: "3 assets, 2.1 MB,
  /// of them 1 file, 2.0 MB; 2 elsewhere, 4.1 MB".
  var text: String? {
    guard self != AssetStatistics() else { return nil }
    func text(_ tally: Tally, _ words: String) -> String? {
      // The size of what was never here may be unknown.
      tally.count > 0 ? words + (tally.bytes > 0 ? ", \(Terminal.bytes(tally.bytes))" : "") : nil
    }
    let parts = [
      text(files, Terminal.count(files.count, "file")),
      text(variants, Terminal.count(variants.count, "variant")),
    ].compactMap { $0 }
    let here = text(here, Terminal.count(self.here.count, "asset")) ?? "0 assets"
    return [
      here + (parts.isEmpty ? "" : ", of them \(parts.joined(separator: " and "))"),
      text(remote, "\(remote.count) elsewhere"), text(missing, "\(missing.count) missing"),
      text(waiting, "\(Terminal.count(waiting.count, "upload")) waiting"),
    ].compactMap { $0 }.joined(separator: "; ")
  }
}
