/** What is wrong whatever the speed: steps that ended twice, lost runs that did not come back, a bound that did not hold. */
export function findFaults(results, { leasedBoundMs }) {
  return results.flatMap(({ round, workload, label, ...figures }) => {
    if (label !== "mainstay") return [];
    const where = `round ${round} ${workload}`;
    const faults = [];
    if (figures.doubles > 0) faults.push(`${where}: ${figures.doubles} recorded steps were executed again`);
    if (workload.startsWith("W4")) {
      if (figures.lost === 0) faults.push(`${where}: the killed worker held nothing`);
      if (figures.reexecuted !== figures.lost) faults.push(`${where}: ${figures.lost} steps were lost and ${figures.reexecuted} executed again`);
      if (workload === "W4 no watch" && figures.allMs > leasedBoundMs) faults.push(`${where}: ${Math.round(figures.allMs)} ms without the death watch, the printed bound is ${leasedBoundMs} ms`);
    }
    return faults;
  });
}
