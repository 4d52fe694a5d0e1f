"""One run of a prioritised corpus against one subject: plan, scheduler, judge, figures."""
